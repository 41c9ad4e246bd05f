"""Where a value is kept: a name or an attribute of a name, `x` or `self.x`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.values.value import Value


def path_of(node: ast.expr) -> str | None:
    """`x` or `self.x` as a path, None for anything longer."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return None


def rebind(frame: Frame, node: ast.AST, changed: Value) -> None:
    """After `x.append(1)`: put the changed container back where it was read from."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        place = path_of(node.func.value)
        if place is None:
            return
        if "." in place:
            frame.set_path(place, changed)
        elif place in frame.env:
            frame.set(place, changed)
