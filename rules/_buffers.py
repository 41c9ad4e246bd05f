"""Numbers that a module keeps from call to call, as buffers: then a tensor may be kept in their place."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tclint.fixes.places import Place
from tclint.model.finding import Applicability, Edit, Fix
from tclint.sources.tree import nodes, same
from tclint.values import Instance, spoken_of

if TYPE_CHECKING:
    from tclint.events import Event

NOTE: Final = (
    "the number becomes a buffer, in single precision: wrong where somebody needs a Python number, or sets it to one"
)


def in_buffer(event: Event, value: ast.expr) -> Fix | None:
    """`self.mean = 0.9 * self.mean + 0.1 * x.mean().detach()` for the same with `.item()`."""
    place = Place(event)
    statement, torch = place.statement, place.importing("torch")
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, ast.AugAssign):
        target = statement.target
    else:
        return None
    if torch is None or not _is_computed(place, statement) or not isinstance(target, ast.Attribute):
        return None
    known = spoken_of(event.ask.evaluate(value))
    edit = buffer(place, target, torch[0], integers=known is not None and known.dtype == "i", stores=1)
    if edit is None:
        return None
    text = f"{place.atom(value)}.detach()"
    return Fix("keep it in a buffer", Applicability.UNSAFE, (*torch[1], edit, place.replace(place.node, text)), NOTE)


def buffer(place: Place, target: ast.Attribute, torch: str, *, integers: bool, stores: int) -> Edit | None:
    """The line of `__init__` that sets `self.name` to a number, which makes a buffer of it; None where the number may be set
    elsewhere too. `stores` are the places that set it otherwise; what they set may be of `integers` only."""
    made = _set_in_constructor(place, target, stores)
    if made is None or not _is_number(made.value) or not (integers or _is_float(made.value)):
        return None
    return _registered(place, made, f"{torch}.tensor({place.source(made.value)})")


def tensor_buffer(event: Event, target: ast.Attribute) -> Fix | None:
    """`self.register_buffer("table", torch.arange(8), persistent=False)` for `self.table = torch.arange(8)`."""
    place = Place(event)
    made = _set_in_constructor(place, target, 0)
    if made is None:
        return None
    note = (
        "it goes where the module goes, and is no part of its checkpoints: wrong where it is meant to stay on the host"
    )
    edit = _registered(place, made, place.source(made.value))
    return Fix(f"register `{target.attr}` as a buffer", Applicability.UNSAFE, (edit,), note)


def _registered(place: Place, made: ast.Assign, value: str) -> Edit:
    target = made.targets[0]
    assert isinstance(target, ast.Attribute)
    first = ast.unparse(target).partition(".")[0]
    return place.replace(made, f'{first}.register_buffer("{target.attr}", {value}, persistent=False)')


def _set_in_constructor(place: Place, target: ast.Attribute, stores: int) -> ast.Assign | None:
    """The line of `__init__` that sets an attribute of a module, where besides only `stores` other places do."""
    cls, function = place.cls, place.function
    me = place.event.ask.local(target.value.id) if isinstance(target.value, ast.Name) else None
    init = next((s for s in cls.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None) if cls else None
    if init is None or function is init or not isinstance(me, Instance) or not place.event.ask.is_nn_module(me.cls):
        return None
    others = [
        n
        for n in nodes(place.module.tree)
        if isinstance(n, ast.Attribute) and n.attr == target.attr and not isinstance(n.ctx, ast.Load)
    ]
    made = [
        s
        for s in init.body
        if isinstance(s, ast.Assign) and len(s.targets) == 1 and any(same(s.targets[0], other) for other in others)
    ]
    if len(others) != stores + 1 or len(made) != 1 or not place.owns_its_lines(made[0]):
        return None
    if not any(_is_super(s) for s in init.body[: init.body.index(made[0])]):
        return None  # a module has no buffers before
    return made[0]


def _is_super(statement: ast.stmt) -> bool:
    """`super().__init__()`"""
    func = statement.value.func if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr == "__init__"


def _is_computed(place: Place, statement: ast.stmt) -> bool:
    """Whether the node only goes through arithmetic before it is kept."""
    for outer in reversed(place.chain):
        if same(outer, statement):
            return True
        chosen = isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id in ("min", "max")
        if not isinstance(outer, (ast.BinOp, ast.UnaryOp)) and not chosen:
            return False
    return False


def _is_number(node: ast.expr) -> bool:
    """Whether an expression is made of numbers alone."""
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float)
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    return _is_float_call(node)


def _is_float(node: ast.expr) -> bool:
    return any(_is_float_call(n) or (isinstance(n, ast.Constant) and type(n.value) is float) for n in ast.walk(node))


def _is_float_call(node: ast.AST) -> bool:
    """`float("inf")`"""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float"
    return called and isinstance(node, ast.Call) and all(isinstance(a, ast.Constant) for a in node.args)
