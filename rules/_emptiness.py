"""Work that an `if` spares where a mask selects nothing: it does nothing then, and needs no `if`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tclint.fixes.places import Place
from tclint.fixes.purity import has_effects
from tclint.model.finding import Applicability, Fix
from tclint.rules._straight import Straight
from tclint.values import Tensor

if TYPE_CHECKING:
    import libcst as cst

_NOTE: Final = (
    "what the branch computes is computed on no rows too: wrong where that fails, as batch norm does, or counts its calls; "
    "parameters get zeros as gradients instead of none"
)


def fix_empty(place: Place, node: ast.If) -> Fix | None:
    """`out[mask] = f(x[mask])` for the same under `if mask.any():`."""
    mask = _any_of(place, node.test)
    if mask is None or node.orelse or not _writes_through(place, node.body, ast.dump(mask)):
        return None
    edit = place.rebuild(node, node, _unwrapped)
    title = "leave the `if` out: through an empty mask nothing is written"
    return Fix(title, Applicability.UNSAFE, (edit,), _NOTE) if edit is not None else None


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
        if has_effects(statement):
            return False
        if isinstance(target, ast.Subscript) and ast.dump(target.slice) == mask:
            written = True
        elif not isinstance(target, ast.Name) or not straight.own(target.id, body):
            return False
    return written


def _unwrapped(statements: list[cst.BaseStatement]) -> Sequence[cst.BaseStatement] | None:
    import libcst as cst

    old = statements[0]
    if not isinstance(old, cst.If) or not isinstance(old.body, cst.IndentedBlock):
        return None
    if old.body.header.comment is not None or any(line.comment is not None for line in old.body.footer):
        return None
    first, *rest = old.body.body
    lead = (*old.leading_lines, *getattr(first, "leading_lines", ()))
    return [first.with_changes(leading_lines=lead), *rest]
