"""Where a value is kept: a name or an attribute of a name, `x` or `self.x`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tclint.values.moments import GROWS
from tclint.values.value import UNKNOWN, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame


def path_of(node: ast.expr) -> str | None:
    """`x` or `self.x` as a path, None for anything longer."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return None


def _note_growth(frame: Frame, node: ast.AST, place: ast.expr, changed: Value, what: str) -> None:
    """A container that outlives the function grows or shrinks."""
    if isinstance(place, ast.Attribute):
        owner = frame.env.get(place.value.id) if isinstance(place.value, ast.Name) else _found(frame, place.value)
        for option in (owner or UNKNOWN).options:
            frame.interp.account.grow_attribute(frame, node, option, place.attr, changed)
    elif isinstance(place, ast.Name):
        frame.interp.account.write_name(frame, node, place.id, f"{place.id}{what}", changed, GROWS)


def is_place(node: ast.AST) -> bool:
    """Whether an expression can be read once more without doing anything: it calls nothing."""
    return not any(isinstance(part, (ast.Call, ast.Await, ast.NamedExpr, ast.Yield)) for part in ast.walk(node))


def _found(frame: Frame, node: ast.expr) -> Value:
    """What eager code finds at a place."""
    return frame.interp.evaluate_silently(frame, node) if frame.region is None and is_place(node) else UNKNOWN


def rebind(frame: Frame, node: ast.AST, changed: Value, what: str = "()") -> None:
    """After `x.append(1)`: put the changed container back where it was read from."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        place = node.func.value
        _note_growth(frame, node, place, changed, what)
        put_back(frame, place, changed)


def put_back(frame: Frame, place: ast.expr, changed: Value) -> None:
    """Let a place hold a container that has changed: a name, an attribute of an object, an item of another container."""
    if isinstance(place, ast.Name):
        _put_back_name(frame, place.id, changed)
    elif isinstance(place, ast.Attribute):
        owner = _found(frame, place.value)
        if owner.identity:
            frame.interp.heap.write(owner, place.attr, changed)
        elif isinstance(place.value, ast.Name):
            frame.set_path(f"{place.value.id}.{place.attr}", changed)
    elif isinstance(place, ast.Subscript) and frame.region is None:
        outer = _found(frame, place.value)
        updated = outer.with_item(_found(frame, place.slice), changed)
        if updated is not outer:
            put_back(frame, place.value, updated)


def _put_back_name(frame: Frame, name: str, changed: Value) -> None:
    if name in frame.env:
        frame.set(name, changed)
    elif frame.region is None:
        outer = frame.closure if frame.closure is not None and name in frame.closure else frame.top_level
        if isinstance(outer, dict) and name in outer:
            outer[name] = changed
            frame.interp.heap.change()
