"""Slices that begin at a tensor and have a length that is known: what TCL104 offers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tclint.fixes.places import Place
from tclint.model.finding import Applicability, Fix
from tclint.values import Scalar, Tensor
from tclint.values.scalar import is_drawn

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
    """`x[:, start + torch.arange(2, device=x.device)]` for `x[:, start : start + 2]`; one after the other for several of them."""
    place = Place(event)
    node = place.node
    torch = place.importing("torch")
    if not isinstance(node, ast.Subscript) or torch is None:
        return None
    found = windows(place, node)
    if not found:
        return None
    owner = place.source(node.value)
    texts = [
        _index(place, torch[0], bounds.lower, place.source(length), owner)
        for _, bounds, length in found
        if bounds.lower is not None
    ]
    if len(found) == 1:
        edit = place.replace(found[0][1], texts[0])
    else:
        # Several indices in one subscript would go hand in hand.
        picks = (f".index_select({dim}, {text})" for (dim, _, _), text in zip(found, texts, strict=True))
        edit = place.replace(node, owner + "".join(picks))
    return Fix("select by an index", Applicability.UNSAFE, (*torch[1], edit), _NOTE)


def windows(place: Place, node: ast.Subscript) -> list[tuple[int, ast.Slice, ast.expr]]:
    """The slices of a subscript that have a beginning and a length that is known, each with its dimension and its length; none
    where the subscript has other parts, which would not stay what they are."""
    if not isinstance(node.ctx, ast.Load) or not isinstance(node.value, (ast.Name, ast.Attribute)):
        return []
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    rest = next((i for i, part in enumerate(parts) if _is_ellipsis(part)), len(parts))
    found: list[tuple[int, ast.Slice, ast.expr]] = []
    whole = True
    for i, part in enumerate(parts):
        if not isinstance(part, ast.Slice):
            if not _is_ellipsis(part):
                return []
        elif part.lower is None:
            whole = whole and part.upper is part.step is None
        elif (length := _length(place, part)) is not None:
            found.append((i if i < rest else i - len(parts), part, length))
        else:
            return []
    return found if len(found) == 1 or whole else []


def _length(place: Place, bounds: ast.Slice) -> ast.expr | None:
    """The length of `a : a + n`, where that is a number."""
    upper = bounds.upper
    if bounds.step is not None or not isinstance(upper, ast.BinOp) or not isinstance(upper.op, ast.Add):
        return None
    if bounds.lower is None or ast.dump(upper.left) != ast.dump(bounds.lower):
        return None
    return upper.right if _known(upper.right) or _is_size(place, upper.right) else None


def _known(node: ast.expr) -> bool:
    """A literal, or an attribute of `self`, which sizes are kept in."""
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id == "self"
    return isinstance(node, ast.Constant) and type(node.value) is int


def _is_size(place: Place, node: ast.expr) -> bool:
    """A name of a number that tracing knows: a size, a parameter, and none that a tensor holds."""
    value = place.event.ask.evaluate(node) if isinstance(node, ast.Name) else None
    known = value is not None and value.python_type == "int" and not is_drawn(value)
    return known and not (isinstance(value, Scalar) and value.source == "data")


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _index(place: Place, torch: str, start: ast.expr, length: str, owner: str) -> str:
    first = (
        place.source(start) if isinstance(start, ast.BinOp) and isinstance(start.op, ast.Add) else place.operand(start)
    )
    known = place.event.ask.evaluate(start)
    if isinstance(known, Tensor) and known.ndim not in (None, 0):
        first = f"{place.atom(start)}.to({owner}.device)"  # one with dimensions has to be where the others are
    return f"{first} + {torch}.arange({length}, device={owner}.device)"


def picked(event: Event) -> Fix | None:
    """`x.index_select(1, i.reshape(1)).squeeze(1)` for `x[:, i]` with a tensor of no dimension; `x[k].…` for `x[k, i]`."""
    place = Place(event)
    node = place.node
    found = pick(place, node) if isinstance(node, ast.Subscript) else None
    if found is None or not isinstance(node, ast.Subscript):
        return None
    before, at, index = found
    owner = place.atom(node.value) + (f"[{', '.join(map(place.source, before))}]" if before else "")
    text = f"{owner}.index_select({at}, {place.atom(index)}.reshape(1)).squeeze({at})"
    note = "a copy, not a view; an index below zero, which counts from the end in Python, is an error"
    return Fix("select by an index", Applicability.UNSAFE, (place.replace(node, text),), note)


def pick(place: Place, node: ast.Subscript) -> tuple[list[ast.expr], int, ast.expr] | None:
    """The last part of a subscript, with its dimension and the numbers that come first: between them there may be whole
    dimensions, which are counted, and behind it nothing."""
    if not isinstance(node.ctx, ast.Load):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    index = parts[-1]
    if isinstance(index, (ast.Slice, ast.Starred)) or _is_ellipsis(index):
        return None
    count = next((i for i, part in enumerate(parts[:-1]) if not _is_number(place, part)), len(parts) - 1)
    between = parts[count:-1]
    if not all(isinstance(p, ast.Slice) and p.lower is p.upper is p.step is None for p in between):
        return None
    return parts[:count], len(between), index


def _is_number(place: Place, node: ast.expr) -> bool:
    return _known(node) or _is_size(place, node)
