"""The value of an expression: a table from the kinds of nodes to their handlers, which `expressions/` fills."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any, Final

from tclint.interpreter.frame import Frame
from tclint.values import NONE, UNKNOWN, External, Value

_HANDLERS: Final[dict[type[ast.AST], Callable[[Frame, Any], Value]]] = {}
_BUILTINS: Final = frozenset(dir(builtins))


def handles(kind: type[ast.expr], handler: Callable[[Frame, Any], Value]) -> None:
    """Let a handler give the value of nodes of one kind."""
    _HANDLERS[kind] = handler


def evaluate(frame: Frame, node: ast.expr) -> Value:
    """The value of an expression in a frame."""
    handler = _HANDLERS.get(type(node))
    if handler is None:
        return UNKNOWN
    return handler(frame, node)


def lookup(frame: Frame, name: str) -> Value:
    """The value of a name: local, enclosing function, module, builtin."""
    value = frame.env.get(name)
    if value is not None:
        return value
    if frame.closure is not None:
        value = frame.closure.get(name)
        if value is not None:
            return value
    value = frame.interp.names.value(frame.module, name)
    if (value is None or value is NONE) and frame.region is None:
        # `model = None` at first, or nothing at all, until a function binds it.
        value = frame.interp.learned.set_globals.get((frame.module.path, name), value)
    if value is not None:
        return value
    if name in _BUILTINS:
        return External("builtins." + name)
    return UNKNOWN
