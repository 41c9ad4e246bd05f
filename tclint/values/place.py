"""Where a value is kept: a name or an attribute of a name, `x` or `self.x`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

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


def _note_growth(frame: Frame, node: ast.AST, place: str, changed: Value) -> None:
    """A container that outlives the function grows or shrinks."""
    base, _, name = place.partition(".")
    if name:
        for owner in (frame.env.get(base) or UNKNOWN).options:
            frame.interp.account.grow_attribute(frame, node, owner, name, changed)
    else:
        frame.interp.account.write_name(frame, node, base, f"{base}()", changed, "grows")


def rebind(frame: Frame, node: ast.AST, changed: Value) -> None:
    """After `x.append(1)`: put the changed container back where it was read from."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        place = path_of(node.func.value)
        if place is None:
            return
        _note_growth(frame, node, place, changed)
        if "." in place:
            frame.set_path(place, changed)
        elif place in frame.env:
            frame.set(place, changed)
