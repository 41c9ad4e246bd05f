"""Running blocks of statements. What each kind of statement does stands in a table, so that nobody has to import the others."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tclint.interpreter.frame import Frame

Handler = Callable[[Frame, Any], None]

_HANDLERS: Final[dict[type[ast.AST], Handler]] = {}


def install(handlers: Mapping[type[ast.AST], Handler]) -> None:
    """Say what kinds of statements do."""
    _HANDLERS.update(handlers)


def run_block(frame: Frame, body: Sequence[ast.stmt]) -> None:
    """Run statements one after the other, up to the first that leaves the block."""
    for statement in body:
        if frame.dead:
            return
        handler = _HANDLERS.get(type(statement))
        if handler is not None:
            handler(frame, statement)
