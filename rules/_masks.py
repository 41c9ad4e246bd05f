"""Masks beside the tensors that they select from, whatever dimensions these have: what TCL106 and TCL302 offer."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tclint.fixes.uses import uses_in

if TYPE_CHECKING:
    from tclint.fixes.places import Place
    from tclint.values import Tensor

# What makes of a tensor a mask of the same shape.
_BY_ELEMENT = (
    *(ast.Compare, ast.BinOp, ast.UnaryOp, ast.Name, ast.Attribute, ast.Constant),
    *(ast.cmpop, ast.operator, ast.unaryop, ast.expr_context),
)


def widened(place: Place, mask: ast.expr, owner: ast.expr) -> str:
    """A mask with as many dimensions as what it selects from, however many these are; empty where names are missing."""
    if not isinstance(mask, (ast.Name, ast.Attribute)) or not isinstance(owner, (ast.Name, ast.Attribute)):
        return ""
    name = place.source(mask)
    return f"{name}.reshape(*{name}.shape, *[1] * ({place.source(owner)}.ndim - {name}.ndim))"


def fits(place: Place, mask: ast.expr, owner: ast.expr, known: Tensor | None, receiver: Tensor) -> bool:
    """Whether a mask surely has the dimensions of the tensor: both are known, or it is made of the tensor, by element."""
    if known is not None and known.ndim != -1 and receiver.ndim != -1:
        return known.ndim == receiver.ndim
    made = _made(place, mask)
    named = any(ast.dump(n) == ast.dump(owner) for n in ast.walk(made))
    return named and all(isinstance(n, _BY_ELEMENT) for n in ast.walk(made))


def differs(known: Tensor | None, receiver: Tensor) -> bool:
    """Whether a mask surely has fewer dimensions than the tensor."""
    return known is None or (known.ndim != receiver.ndim and -1 not in (known.ndim, receiver.ndim))


def _made(place: Place, mask: ast.expr) -> ast.expr:
    """What a mask is made of, where a name holds it that is bound once."""
    if not isinstance(mask, ast.Name) or len(uses_in(place.function).stores(mask.id)) != 1 or place.function is None:
        return mask
    for node in ast.walk(place.function):
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == mask.id for t in node.targets):
            return node.value
    return mask
