"""Work that an `if` spares where a tensor of unknown size has no elements: it does nothing then, and needs no `if`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tclint.events import Call
from tclint.fixes.places import Place
from tclint.fixes.purity import PURE, has_effects, pure
from tclint.fixes.switches import switch_on
from tclint.fixes.uses import uses_in
from tclint.model.finding import Edit, Fix
from tclint.rules._emptiness import unwrapped
from tclint.rules._straight import Straight
from tclint.rules._unbacked import is_sized, is_walked
from tclint.sources.tree import names_read, position, within
from tclint.torch_facts import facts
from tclint.values import External, Instance, Object, Tensor, spoken_of

if TYPE_CHECKING:
    from tclint.events import Event

_NOTE: Final = (
    "what an `if` on the size spared is computed on no rows too: wrong where that fails, as batch norm does, or counts its calls; "
    "parameters get zeros as gradients instead of none"
)
_SIZES: Final = facts.methods("gives a size")
_FAILS: Final = facts.methods("fails on a tensor without elements")
_POSITIONS: Final = facts.methods("gives the positions of what is not zero")
_WRITES: Final = facts.methods("writes where an index says")


def switch_sizes(event: Event, setting: str) -> Fix | None:
    """The switch that lets a size into the graph, without the question whether it is zero: the `if` is left out, or asks the mask."""
    if is_walked(event):
        return None
    spared = _spared(event)
    if is_sized(event, [branch for branch, _ in spared]):
        return None
    found = switch_on(event, setting)
    if found is None or not spared:
        return found
    if not found.edits:
        return None  # in another file: no fix writes into two
    title = f"{found.title}, and no longer ask for the size"
    return replace(
        found, title=title, edits=(*(edit for _, edit in spared), *found.edits), note=f"{found.note}; {_NOTE}"
    )


def _spared(event: Event) -> list[tuple[ast.If, Edit]]:
    """The branches that spare work where what an event makes has no elements, each with the edit that takes it out."""
    place = Place(event)
    statement, function = place.statement, place.function
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or function is None:
        return []
    target = statement.targets[0]
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    if any(len(uses_in(function).stores(name)) != 1 for name in names):
        return []
    found: list[tuple[ast.If, Edit]] = []
    for name in sorted(names):
        for read, above in uses_in(function).reads(name):
            branch = next((n for n in reversed(above) if isinstance(n, ast.If)), None)
            if branch is not None and within(read, branch.test) and not any(b is branch for b, _ in found):
                edit = _taken_out(Place(event, branch), branch, names) or _asked_of_mask(place, branch, names)
                if edit is not None:
                    found.append((branch, edit))
    return found


def _asked_of_mask(place: Place, branch: ast.If, names: set[str]) -> Edit | None:
    """`if not mask.any():` for `if rows.numel() == 0:`: of the mask a tensor can ask it, and a branch on that may be selected."""
    asks = _asks(branch.test, names)
    mask = _mask(place.event, place.node)
    uses = uses_in(place.function)
    if asks is None or mask is None or not pure(place, mask) or spoken_of(place.event.ask.evaluate(mask)) is None:
        return None
    if any(position(store)[0] > position(place.node)[0] for name in names_read([mask]) for store in uses.stores(name)):
        return None
    around = [outer for name in names for _, above in uses.reads(name) for outer in above]
    if any(isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in _FAILS for n in around):
        return None  # what is computed of nothing fails: `rows.max()`, `x[rows].max()`
    text = f"{place.atom(mask)}.any()"
    return place.replace(branch.test, text if asks == "some" else f"not {text}") if "\n" not in text else None


def _mask(event: Event, node: ast.AST) -> ast.expr | None:
    """What says which elements are selected: `mask` of `x[mask]`, of `mask.nonzero()` and of `torch.where(mask)`."""
    if isinstance(node, ast.Subscript):
        known = event.ask.evaluate(node.slice)
        return node.slice if isinstance(known, Tensor) and known.dtype == "b" else None
    if not isinstance(node, ast.Call) or not isinstance(event, Call) or event.method not in _POSITIONS:
        return None
    if event.name.startswith("Tensor."):
        return node.func.value if isinstance(node.func, ast.Attribute) else None
    return node.args[0] if len(node.args) == 1 else None


def _taken_out(place: Place, node: ast.If, names: set[str]) -> Edit | None:
    asks = _asks(node.test, names)
    found = place.index(node)
    if asks is None or node.orelse or found is None:
        return None
    block, at = found
    if asks == "none" and len(node.body) == 1 and isinstance(node.body[0], ast.Continue):
        looped = any(isinstance(n, ast.For) and n.body is block for n in place.chain)
        if not looped or "#" in "".join(place.lines[node.lineno - 1 : node.end_lineno]):
            return None  # the comment would go with it
        return place.remove(node) if _does_nothing(place, block[at + 1 :], names) else None
    if asks == "some" and _is_bound(place, node) and _does_nothing(place, node.body, names):
        return place.rebuild(node, node, unwrapped)
    return None


def _is_bound(place: Place, branch: ast.If) -> bool:
    """Whether all that a branch reads is there without it: not what another `if`, on the same question perhaps, alone binds."""
    uses = uses_in(place.function)
    for name in names_read(branch.body):
        others = [
            any(isinstance(n, ast.If) and not within(branch, n) for n in uses.around(s)) for s in uses.stores(name)
        ]
        if others and all(others):
            return False
    return True


def _asks(test: ast.expr, names: set[str]) -> str | None:
    """Whether a test asks that a tensor of these names has `some` elements, or `none`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return "none" if _is_size(test.operand, names) else None
    if _is_size(test, names):
        return "some"
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not _is_size(test.left, names):
        return None
    limit = test.comparators[0]
    asked = (type(test.ops[0]), limit.value if isinstance(limit, ast.Constant) else None)
    if asked in ((ast.Eq, 0), (ast.Lt, 1), (ast.LtE, 0)):
        return "none"
    return "some" if asked in ((ast.NotEq, 0), (ast.Gt, 0), (ast.GtE, 1)) else None


def _is_size(node: ast.expr, names: set[str]) -> bool:
    """`rows.numel()`, `rows.shape[0]`, `len(rows)`."""
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "len" and len(node.args) == 1 and _is_one(node.args[0], names)
    method = node.func if isinstance(node, ast.Call) else None
    if isinstance(method, ast.Attribute):
        return method.attr in _SIZES and _is_one(method.value, names)
    return isinstance(node, ast.Attribute) and node.attr == "shape" and _is_one(node.value, names)


def _is_one(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _does_nothing(place: Place, body: Sequence[ast.stmt], names: set[str]) -> bool:
    """Whether statements, given tensors without elements, write nothing, and do not fail."""
    straight = Straight(place)
    empty = set(names)
    written = False
    for statement in body:
        if has_effects(statement) or not _bears(place, statement, empty):
            return False
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if isinstance(statement, ast.AugAssign):
            target = statement.target
        if (
            isinstance(target, ast.Subscript)
            and names_read([target.slice]) & empty
            or _writes(statement, target, empty)
        ):
            written = True
        elif isinstance(target, ast.Name) and isinstance(statement, ast.Assign) and straight.own(target.id, body):
            empty |= {target.id} if names_read([statement.value]) & empty else set()
        else:
            return False
    return written


def _writes(statement: ast.stmt, target: ast.expr | None, empty: set[str]) -> bool:
    """`out.index_add_(0, rows, x)`, `out = out.index_add(0, rows, x)`."""
    call = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
    func = call.func if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or not isinstance(func, ast.Attribute) or func.attr not in _WRITES:
        return False
    if not names_read(call.args) & empty:
        return False
    if target is None:
        return func.attr.endswith("_")
    return isinstance(target, ast.Name) and isinstance(func.value, ast.Name) and target.id == func.value.id


def _bears(place: Place, statement: ast.stmt, empty: set[str]) -> bool:
    """Whether no call in a statement fails for what has no elements, as far as is known."""
    for node in ast.walk(statement):
        if not isinstance(node, ast.Call):
            continue
        func = node.func
        known = place.event.ask.evaluate(func)
        given = names_read([*node.args, *(k.value for k in node.keywords)]) & empty
        if isinstance(known, External):
            last = known.name.rpartition(".")[2]
            if given and (last in _FAILS or not (known.name.startswith("torch.") and last in PURE)):
                return False
        elif isinstance(known, (Instance, Object)):
            continue
        elif given or names_read([func]) & empty:
            if not isinstance(func, ast.Attribute) or func.attr in _FAILS or func.attr not in PURE | _WRITES:
                return False
    return True
