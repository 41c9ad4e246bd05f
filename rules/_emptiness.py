"""Work that an `if` spares where a mask selects nothing: it does nothing then, and needs no `if`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tclint.fixes.places import Place
from tclint.fixes.purity import has_effects
from tclint.model.finding import Applicability, Fix
from tclint.rules._straight import Straight
from tclint.torch_facts import facts
from tclint.values import Instance, Object, Tensor

if TYPE_CHECKING:
    import libcst as cst

_COPIES: Final = facts.methods("copies into memory of its own")
_NOTE: Final = (
    "what the branch computes is computed on no rows too: wrong where that fails, as batch norm does, or counts its calls; "
    "parameters get zeros as gradients instead of none"
)


def fix_empty(place: Place, node: ast.If) -> Fix | None:
    """`out[mask] = f(x[mask])` for the same under `if mask.any():`, or behind `if not mask.any(): continue`."""
    spared = _behind(place, node)
    test = node.test.operand if spared and isinstance(node.test, ast.UnaryOp) else node.test
    mask = _any_of(place, test)
    if mask is None or node.orelse or not _writes_through(place, spared or node.body, ast.dump(mask)):
        return None
    if spared and "#" in "".join(place.lines[node.lineno - 1 : node.end_lineno]):
        return None  # the comment would go with it
    edit = place.remove(node) if spared else place.rebuild(node, node, unwrapped)
    title = "leave the `if` out: through an empty mask nothing is written"
    return Fix(title, Applicability.UNSAFE, (edit,), _NOTE) if edit is not None else None


def _behind(place: Place, node: ast.If) -> Sequence[ast.stmt]:
    """The rest of a turn, where the branch is `if not …: continue`."""
    negated = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
    found = place.index(node)
    if not negated or found is None or len(node.body) != 1 or not isinstance(node.body[0], ast.Continue):
        return ()
    block, at = found
    return block[at + 1 :] if any(isinstance(n, ast.For) and n.body is block for n in place.chain) else ()


def _any_of(place: Place, test: ast.expr) -> ast.expr | None:
    """The mask that `mask.any()` asks whether it selects something."""
    func = test.func if isinstance(test, ast.Call) and not test.args and not test.keywords else None
    if not isinstance(func, ast.Attribute) or func.attr != "any" or not isinstance(func.value, ast.Name):
        return None
    known = place.event.ask.evaluate(func.value)
    return func.value if isinstance(known, Tensor) and known.dtype == "b" else None


def _writes_through(place: Place, body: Sequence[ast.stmt], mask: str) -> bool:
    """Whether statements write elements that a mask selects, and names of their own, and nothing else."""
    straight = Straight(place)
    written = False
    for statement in body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target: ast.expr = statement.targets[0]
        elif isinstance(statement, ast.AugAssign):
            target = statement.target
        else:
            return False
        if has_effects(statement) or not _bears_none(place, statement.value, mask):
            return False
        if isinstance(target, ast.Subscript) and ast.dump(target.slice) == mask:
            written = True
        elif _is_copy(place, target, statement.value):
            pass  # of a tensor that nothing is written into then
        elif not isinstance(target, ast.Name) or not straight.own(target.id, body):
            return False
    return written


def _is_copy(place: Place, target: ast.expr, value: ast.expr) -> bool:
    """`x = x.clone()`"""
    func = value.func if isinstance(value, ast.Call) and not value.args and not value.keywords else None
    if not isinstance(target, ast.Name) or not isinstance(func, ast.Attribute) or func.attr not in _COPIES:
        return False
    return ast.unparse(func.value) == target.id and isinstance(place.event.ask.evaluate(func.value), Tensor)


def _bears_none(place: Place, value: ast.expr, mask: str) -> bool:
    """Whether an expression has a value where a mask selects nothing. Modules and arithmetic have; the largest of no elements
    is an error, so what a method or a function of torch makes of them is not known to."""
    picked = {id(n) for n in ast.walk(value) if isinstance(n, ast.Subscript) and ast.dump(n.slice) == mask}
    for node in ast.walk(value):
        if isinstance(node, ast.Attribute) and _holds(node.value, picked):
            return False
        if isinstance(node, ast.Call) and any(
            _holds(a, picked) for a in (*node.args, *(k.value for k in node.keywords))
        ):
            known = place.event.ask.evaluate(node.func)
            if not isinstance(known, (Instance, Object)):
                return False
    return True


def _holds(node: ast.AST, wanted: set[int]) -> bool:
    return any(id(n) in wanted for n in ast.walk(node))


def unwrapped(statements: list[cst.BaseStatement]) -> Sequence[cst.BaseStatement] | None:
    """The statements of an `if` in its place."""
    import libcst as cst

    old = statements[0]
    if not isinstance(old, cst.If) or not isinstance(old.body, cst.IndentedBlock):
        return None
    if old.body.header.comment is not None or any(line.comment is not None for line in old.body.footer):
        return None
    first, *rest = old.body.body
    lead = (*old.leading_lines, *getattr(first, "leading_lines", ()))
    return [first.with_changes(leading_lines=lead), *rest]
