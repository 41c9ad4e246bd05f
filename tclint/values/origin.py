"""Where a value came from: a node of a file, for "tensor since line 87"."""

from __future__ import annotations

import ast
from typing import Final, NamedTuple


class Origin(NamedTuple):
    """The line and the node that made a value, and their file."""

    line: int
    node: ast.AST | None
    path: str = ""

    def text(self) -> str:
        if self.node is None:
            return ""
        try:
            text = ast.unparse(self.node)
        except (RecursionError, AttributeError, ValueError):
            return ""
        return text if len(text) <= 60 else text[:57] + "…"


NOWHERE: Final = Origin(0, None)
