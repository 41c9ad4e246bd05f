"""Crops in several dimensions whose starts are numbers that only the graph knows: one dimension after the other.

Asked of torch 2.13: with `capture_scalar_outputs`, `x[:, a:b, c:d]` fails inside Dynamo (PendingUnbackedSymbolNotFound), and
`x[:, a:b][:, :, c:d]`, which is the same view, is traced.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tclint.fixes.places import Place
from tclint.model.finding import Applicability, Edit, Fix
from tclint.rules._conditions import on_one_line
from tclint.sources.tree import by_kind, names_read, nodes

if TYPE_CHECKING:
    from tclint.events import Event
    from tclint.program import Function


def parted(event: Event, fix: Fix | None) -> Fix | None:
    """A switch that lets a number in, and the crops that start at it taken apart; None where one of them cannot be."""
    place = Place(event)
    names = _bound(place.statement)
    if fix is None or not names or event.enclosing is None:
        return fix
    edits: list[Edit] = []
    for node, parts, starts in event.enclosing.index(_crops):
        if not names & names_read([_lower(parts[i]) for i in starts]):
            continue
        edit = _one_by_one(place, node, parts, starts)
        if edit is None or not fix.edits:
            return None
        edits.append(edit)
    return replace(fix, edits=(*fix.edits, *edits)) if edits else fix


def _crops(function: Function) -> list[tuple[ast.Subscript, Sequence[ast.expr], list[int]]]:
    """The crops of a function that start, in several dimensions, at numbers it reads out of tensors: which dimensions."""
    read_out = {name for node in nodes(function.node) if isinstance(node, ast.stmt) for name in _bound(node)}
    found: list[tuple[ast.Subscript, Sequence[ast.expr], list[int]]] = []
    for node in by_kind(function.node)[ast.Subscript] if read_out else ():
        if not isinstance(node.ctx, ast.Load):
            continue
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
        starts = [i for i, part in enumerate(parts) if names_read([_lower(part)]) & read_out]
        if len(starts) > 1:
            found.append((node, parts, starts))
    return found


def one_by_one(event: Event) -> Fix | None:
    """`x[:, a:b][:, :, c:d]` for `x[:, a:b, c:d]`, where the switch is on."""
    place = Place(event)
    node = place.node
    parts = node.slice.elts if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) else []
    starts = [i for i, part in enumerate(parts) if names_read([_lower(part)])]
    edit = _one_by_one(place, node, parts, starts) if isinstance(node, ast.Subscript) and len(starts) > 1 else None
    note = "the same view, cut in steps"
    return Fix("cut one dimension after the other", Applicability.SAFE, (edit,), note) if edit is not None else None


def _one_by_one(place: Place, node: ast.Subscript, parts: Sequence[ast.expr], starts: list[int]) -> Edit | None:
    if not all(isinstance(part, ast.Slice) for part in parts):
        return None
    text = place.operand(node.value)
    for dims in _steps(len(parts), starts):
        kept = [on_one_line(place.source(parts[i])) if i in dims else ":" for i in range(max(dims) + 1)]
        text += f"[{', '.join(kept)}]"
    return place.replace(node, text)


def _steps(size: int, starts: list[int]) -> Iterator[set[int]]:
    """Which dimensions are cut at once: all but the later ones of those, then each of these."""
    yield set(range(size)) - set(starts[1:])
    yield from ({i} for i in starts[1:])


def _lower(part: ast.expr) -> ast.AST:
    lower = part.lower if isinstance(part, ast.Slice) else None
    return lower if lower is not None else ast.Pass()


def _bound(statement: ast.stmt | None) -> set[str]:
    """The names that a statement binds to numbers that it reads out of a tensor."""
    if not isinstance(statement, ast.Assign) or not any(_reads_out(n) for n in ast.walk(statement.value)):
        return set()
    return {n.id for target in statement.targets for n in ast.walk(target) if isinstance(n, ast.Name)}


def _reads_out(node: ast.AST) -> bool:
    func = node.func if isinstance(node, ast.Call) else None
    if isinstance(func, ast.Attribute):
        return func.attr in ("item", "tolist")
    return isinstance(func, ast.Name) and func.id == "int"
