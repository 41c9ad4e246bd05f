"""Slices that begin at a tensor and have a length that is known: what TCL104 offers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tclint.fixes.places import Place
from tclint.model.finding import Applicability, Fix

if TYPE_CHECKING:
    from tclint.events import Event

_NOTE: Final = "a copy, not a view, and an index beyond the end or below zero is an error on some devices, where a slice is cut short"


def narrowed(event: Event) -> Fix | None:
    """`x.index_select(d, start + torch.arange(2, device=x.device))` for `x.narrow(d, start, 2)`."""
    place = Place(event)
    node = place.node
    torch = place.importing("torch")
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or torch is None or node.keywords:
        return None
    owner = node.func.value
    parts = node.args
    if isinstance(owner, ast.Name) and owner.id == torch[0] and len(parts) == 4:
        owner, parts = parts[0], parts[1:]
    if len(parts) != 3 or not isinstance(owner, (ast.Name, ast.Attribute)) or not _known(parts[2]):
        return None
    dim, start, length = parts
    index = _index(place, torch[0], start, place.source(length), place.source(owner))
    text = f"{place.source(owner)}.index_select({place.source(dim)}, {index})"
    return Fix("select by an index", Applicability.UNSAFE, (*torch[1], place.replace(node, text)), _NOTE)


def window(event: Event) -> Fix | None:
    """`x[:, start + torch.arange(2, device=x.device)]` for `x[:, start : start + 2]`."""
    place = Place(event)
    node = place.node
    torch = place.importing("torch")
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load) or torch is None:
        return None
    if not isinstance(node.value, (ast.Name, ast.Attribute)):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    windows = [part for part in parts if isinstance(part, ast.Slice) and part.lower is not None]
    # With a second index that is no plain slice, the two would go hand in hand.
    if len(windows) != 1 or not all(isinstance(p, ast.Slice) or _is_ellipsis(p) for p in parts):
        return None
    length = _length(windows[0])
    if length is None or windows[0].lower is None:
        return None
    index = _index(place, torch[0], windows[0].lower, place.source(length), place.source(node.value))
    edit = place.replace(windows[0], index)
    return Fix("select by an index", Applicability.UNSAFE, (*torch[1], edit), _NOTE)


def _length(bounds: ast.Slice) -> ast.expr | None:
    """The length of `a : a + n`, where that is a number."""
    upper = bounds.upper
    if bounds.step is not None or not isinstance(upper, ast.BinOp) or not isinstance(upper.op, ast.Add):
        return None
    if bounds.lower is None or ast.dump(upper.left) != ast.dump(bounds.lower) or not _known(upper.right):
        return None
    return upper.right


def _known(node: ast.expr) -> bool:
    """A literal, or an attribute of `self`, which sizes are kept in."""
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id == "self"
    return isinstance(node, ast.Constant) and type(node.value) is int


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _index(place: Place, torch: str, start: ast.expr, length: str, owner: str) -> str:
    first = (
        place.source(start) if isinstance(start, ast.BinOp) and isinstance(start.op, ast.Add) else place.operand(start)
    )
    return f"{first} + {torch}.arange({length}, device={owner}.device)"


def picked(event: Event) -> Fix | None:
    """`x.index_select(1, i.reshape(1)).squeeze(1)` for `x[:, i]` with a tensor of no dimension."""
    place = Place(event)
    node = place.node
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    at = len(parts) - 1
    # After it there may be nothing, before it whole dimensions: then its own is counted.
    if not all(isinstance(p, ast.Slice) and p.lower is p.upper is p.step is None for p in parts[:at]):
        return None
    index = parts[at]
    if isinstance(index, (ast.Slice, ast.Starred)) or _is_ellipsis(index):
        return None
    text = f"{place.atom(node.value)}.index_select({at}, {place.atom(index)}.reshape(1)).squeeze({at})"
    note = "a copy, not a view; an index below zero, which counts from the end in Python, is an error"
    return Fix("select by an index", Applicability.UNSAFE, (place.replace(node, text),), note)
