"""A test as it is written, so that it can be known again: what it asks, of which names, and how it is turned."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.program import Module
from tclint.sources.tree import bound_on_self, by_kind
from tclint.torch_facts import facts
from tclint.values import UNKNOWN, Const, External, Instance, Member, Scalar, Union, Value, tensor_of
from tclint.values.value import NUMBER

_SIZES: Final = facts.methods("gives a size")
_GLOBAL: Final = re.compile(rb"\n[ \t]+global[ \t]([^\n#]*)")
_ASKING: Final = frozenset({"builtins.isinstance", "builtins.hasattr", "builtins.callable"})
_SIGNS: Final[Mapping[type[ast.cmpop], tuple[str, bool]]] = {
    ast.Is: ("==", True),
    ast.IsNot: ("==", False),
    ast.Eq: ("==", True),
    ast.NotEq: ("==", False),
    ast.In: ("in", True),
    ast.NotIn: ("in", False),
    ast.Lt: ("<", True),
    ast.GtE: ("<", False),
    ast.Gt: (">", True),
    ast.LtE: (">", False),
}


class Spelled(NamedTuple):
    """A test that asks nothing but what stays: names, attributes and sizes, and no values of tensors."""

    text: str
    holds: bool
    """What `text` comes to where the test is true."""
    roots: tuple[str, ...]
    """The names that it is about."""
    place: str = ""
    """Where it asks one place for its value: `kind` of `kind == "a"`, `self.fast` of `self.fast`."""
    among: frozenset[object] | None = None
    """The values that are asked for, None where the truth of the place is."""
    possible: frozenset[object] | None = None
    """All that the place can hold, as far as its value says."""
    type: str = ""
    """The Python type of what it holds."""


class _Read:
    """What is found while an operand is read."""

    __slots__ = ("attributes", "roots", "sized")

    def __init__(self) -> None:
        self.roots: list[str] = []
        self.attributes: list[ast.Attribute] = []
        self.sized = False


def spell(frame: Frame, node: ast.expr, value: Value | None = None) -> Spelled | None:
    """A test as it is written, None where asking it again might come to something else; `value` is what it evaluates to."""
    found = _Read()
    said: Spelled | None = None
    if isinstance(node, (ast.Name, ast.Attribute)):
        text = _operand(frame, node, found)
        held = _value(frame, node) if value is None else value
        if text and _stays(frame, node, held):
            said = Spelled(text, True, (), text, None, _possible(held), held.python_type)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _SIGNS:
        said = _compared(frame, node, found)
    elif isinstance(node, ast.Call):
        text = _operand(frame, node, found)
        said = Spelled(text, True, ()) if text and not found.sized else None
    if said is None or not found.roots or not all(_is_kept(frame, each) for each in found.attributes):
        return None
    if frame.function is not None and not frame.function.node_index(_shared).isdisjoint(found.roots):
        return None
    if not frame.module.index(_rebound).isdisjoint(root for root in found.roots if root not in frame.env):
        return None
    if found.sized and (_value(frame, node) if value is None else value).source != "size":
        return None
    return said._replace(roots=tuple(dict.fromkeys(found.roots)))


def constant(value: Value) -> tuple[object] | None:
    """What a value is equal to and nothing else is, as the one item of a tuple; None where that is not known."""
    if isinstance(value, Member):
        return ((value.plain.value,) if value.plain is not None else None) if value.mixed else (value.key,)
    return (value.value,) if type(value) is Const else None


def _compared(frame: Frame, node: ast.Compare, found: _Read) -> Spelled | None:
    left, right = node.left, node.comparators[0]
    sign, holds = _SIGNS[type(node.ops[0])]
    text = _operand(frame, left, found)
    left = _named(left)
    if not text:
        return None
    among = _asked(frame, right, sign)
    if among is not None:
        held = _value(frame, left)
        if tensor_of(held) is not None and among != {None}:
            return None
        if isinstance(left, (ast.Name, ast.Attribute)):
            told = f"{text} {sign} {sorted(map(repr, among))}"
            return Spelled(told, holds, (), text, among, _possible(held), held.python_type)
    other = _operand(frame, right, found) if sign != "in" else ""
    return Spelled(f"{text} {sign} {other}", holds, ()) if other else None


def _asked(frame: Frame, node: ast.expr, sign: str) -> frozenset[object] | None:
    """The values that a place is compared with, where they are known."""
    if sign not in ("==", "in") or not isinstance(
        node, (ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Set)
    ):
        return None
    value = _value(frame, node)
    if sign == "==":
        one = constant(value)
        return frozenset(one) if one is not None else None
    items = value.known_items(frame)
    each = [constant(item) for item in items] if items is not None and not isinstance(value, Const) else [None]
    return frozenset(one[0] for one in each if one is not None) if None not in each else None


def _value(frame: Frame, node: ast.expr) -> Value:
    with frame.interp.emitter.silence:
        return evaluate(frame, node)


def _possible(value: Value) -> frozenset[object] | None:
    """All that a value can be."""
    if value.python_type == "bool" and isinstance(value, Scalar):
        return frozenset({True, False})
    if isinstance(value, Scalar) and value.among:
        return frozenset(value.among)
    if not isinstance(value, Union):
        return None
    each = [frozenset(one) if (one := constant(option)) is not None else _possible(option) for option in value.options]
    told = [one for one in each if one is not None]
    return frozenset[object]().union(*told) if len(told) == len(each) else None


def _named(node: ast.expr) -> ast.expr:
    """What a walrus has bound."""
    return node.target if isinstance(node, ast.NamedExpr) else node


def _operand(frame: Frame, node: ast.expr, found: _Read) -> str:
    """A side of a comparison, empty where asking for it again might give something else."""
    node = _named(node)
    if isinstance(node, ast.Name):
        found.roots.append(node.id)
        return node.id
    if isinstance(node, ast.Attribute):
        base = _operand(frame, node.value, found)
        found.attributes.append(node)
        return f"{base}.{node.attr}" if base else ""
    if isinstance(node, ast.Constant):
        return repr(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _operand(frame, node.operand, found)
        return f"-{inner}" if inner else ""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Constant, ast.UnaryOp)):
        found.sized = True
        base, index = _operand(frame, node.value, found), _operand(frame, node.slice, found)
        return f"{base}[{index}]" if base and index else ""
    if isinstance(node, ast.Call) and not node.keywords:
        return _call(frame, node, found)
    return ""


def _call(frame: Frame, node: ast.Call, found: _Read) -> str:
    """`isinstance(x, Wrapped)`, `x.size(0)`, `len(x.shape)`: what asks an object for no more than what it is."""
    func = node.func
    if isinstance(func, ast.Name):
        called = _value(frame, func)
        name = called.name if isinstance(called, External) else ""
        if name not in _ASKING and name != "builtins.len":
            return ""
        found.sized |= name == "builtins.len"
        if name == "builtins.hasattr" and not _is_given(frame, node):
            return ""
        text = func.id
    elif isinstance(func, ast.Attribute) and func.attr in _SIZES:
        found.sized = True
        base = _operand(frame, func.value, found)
        text = f"{base}.{func.attr}" if base else ""
    else:
        return ""
    parts = [_operand(frame, each, found) for each in node.args]
    return f"{text}({', '.join(parts)})" if text and all(parts) else ""


def _is_given(frame: Frame, node: ast.Call) -> bool:
    """Whether the function binds no attribute that it asks for by its name."""
    name = node.args[1] if len(node.args) == 2 else None
    if not isinstance(name, ast.Constant) or frame.function is None:
        return False
    return name.value not in frame.function.node_index(_bound)


# -- what stays ---------------------------------------------------------------------------------------------------


def _stays(frame: Frame, node: ast.Name | ast.Attribute, held: Value) -> bool:
    """Whether the truth of a place is that of what it holds, which is nothing that fills up."""
    if held.rank == NUMBER or held.python_type == "str":
        return True
    if isinstance(held, Union):
        return all(_stays(frame, node, option) for option in held.options)
    if isinstance(held, (Const, Member)):
        return True
    if held is not UNKNOWN or frame.function is None:
        return False
    name = node.id if isinstance(node, ast.Name) else node.attr
    return name not in frame.function.node_index(_filled)


def _is_kept(frame: Frame, node: ast.Attribute) -> bool:
    """Whether no code in sight binds an attribute anew once its object is built."""
    if frame.function is None or node.attr in frame.function.node_index(_bound):
        return False
    owner = _value(frame, node.value)
    if not isinstance(owner, Instance):
        # Whose methods are called may be another one afterwards.
        return tensor_of(owner) is not None or _last(node.value) not in frame.function.node_index(_filled)
    classes = frame.interp.classes
    if classes.find_method(owner.cls, node.attr) is not None:
        return False  # a property may be another one each time
    order = classes.mro(owner.cls)
    if any((each.module.path, each.qualname, node.attr) in frame.interp.learned.rebound for each in order):
        return False
    init = classes.find_method(owner.cls, "__init__")
    methods = (method for each in order for method in each.methods.values() if method is not init)
    return not any(node.attr in method.node_index(bound_on_self) for method in methods)


def _shared(root: ast.AST) -> frozenset[str]:
    """The names that functions inside a function, or others of its file, bind as well."""
    found = by_kind(root)
    return frozenset(name for kind in (ast.Nonlocal, ast.Global) for each in found[kind] for name in each.names)


def _rebound(module: Module) -> frozenset[str]:
    """The names of a file that some function of it binds anew."""
    return frozenset(name.decode() for line in _GLOBAL.findall(module.data) for name in re.findall(rb"\w+", line))


def _bound(root: ast.AST) -> frozenset[str]:
    """The attributes that a function binds, whatever they belong to."""
    return frozenset(n.attr for n in by_kind(root)[ast.Attribute] if not isinstance(n.ctx, ast.Load))


def _filled(root: ast.AST) -> frozenset[str]:
    """The names and attributes that hold what a function may fill: it calls their methods, or binds their items."""
    found = by_kind(root)
    held = [call.func.value for call in found[ast.Call] if isinstance(call.func, ast.Attribute)]
    held += [each.value for each in found[ast.Subscript] if not isinstance(each.ctx, ast.Load)]
    return frozenset(name for each in held for name in [_last(each)] if name)


def _last(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
