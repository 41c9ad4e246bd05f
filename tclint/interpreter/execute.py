"""Running blocks of statements: a table from the kinds of statements to their handlers, which `statements` fills."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final

from tclint.interpreter.frame import Frame

_HANDLERS: Final[dict[type[ast.AST], Callable[[Frame, Any], None]]] = {}


def handles(kind: type[ast.stmt], handler: Callable[[Frame, Any], None]) -> None:
    """Let a handler run statements of one kind."""
    _HANDLERS[kind] = handler


def run_block(frame: Frame, body: Sequence[ast.stmt]) -> None:
    """Run statements one after the other, up to the first that leaves the block."""
    for statement in body:
        if frame.dead:
            return
        handler = _HANDLERS.get(type(statement))
        if handler is not None:
            handler(frame, statement)
