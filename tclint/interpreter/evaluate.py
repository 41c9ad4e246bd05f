"""The value of an expression: a table from the kinds of nodes to their handlers, which `expressions/` fills."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Callable
from typing import Any, Final, Literal

from tclint.interpreter.frame import Frame
from tclint.values import NONE, TRUE, UNKNOWN, Compiled, External, FunctionValue, Scalar, Seq, Value
from tclint.values.moments import GROWS

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


def _compiles(bound: Value, function: FunctionValue) -> bool:
    """`global step; step = torch.compile(step)`"""
    return isinstance(bound, Compiled) and bound.target.key == function.key


def lookup(frame: Frame, name: str) -> Value:
    """The value of a name: local, enclosing function, module, builtin."""
    value = frame.env.get(name)
    if value is not None:
        return value
    if frame.closure is not None:
        value = frame.closure.get(name)
        if value is not None:
            outer = frame.function.parent if frame.function is not None else None
            return _as_changed(frame, ("cell", outer.qualname), name, value) if outer is not None else value
    if frame.region is None:
        held = frame.top_level.get(name)
        if held is not None:
            frame.interp.heap.read_global(frame.module.path, name, held)
            return _as_changed(frame, ("global", ""), name, held)
    value = frame.interp.names.value(frame.module, name)
    if frame.region is None and (value is None or value is NONE or isinstance(value, FunctionValue)):
        # `model = None` at first, or nothing at all, until a function binds it; a function until one compiles it.
        bound = frame.interp.learned.set_globals.get((frame.module.path, name))
        if bound is not None and (not isinstance(value, FunctionValue) or _compiles(bound, value)):
            value = bound
    if value is not None:
        if frame.region is not None:
            return value
        return _as_changed(frame, ("global", ""), name, value)
    if name == "__debug__":
        return TRUE  # nobody compiles models under `python -O`
    if name in _BUILTINS:
        return _builtin(name)
    return UNKNOWN


@functools.cache
def _builtin(name: str) -> External:
    return External("builtins." + name)


def _as_changed(frame: Frame, where: tuple[Literal["cell", "global"], str], name: str, value: Value) -> Value:
    """A variable that eager code counts up, or makes longer: another one each time it is read."""
    counted = frame.interp.learned.counted
    if frame.region is not None or not counted:
        return value
    kind, owner = where
    path = frame.module.path
    if (kind, path, owner, name) in counted and value.python_type in ("int", "float", "number"):
        return Scalar(value.python_type, "counted")
    # What has a limit, a deque, may have reached it long ago.
    if (kind, path, owner, f"{name}()") in counted and isinstance(value, Seq) and value.kind == "list":
        return Seq(value.kind, None, value.element(), GROWS)
    return value


def holder(frame: Frame, node: ast.expr) -> Value:
    """The value of an expression of which only the object itself is needed: nothing that it holds is read."""
    if type(node) is ast.Name:
        return lookup(frame, node.id)
    if type(node) is ast.Attribute and type(node.value) is ast.Name and node.value.id in frame.paths:
        value = frame.env.get(f"{node.value.id}.{node.attr}")
        if value is not None:
            return value
    if type(node) is ast.Attribute and type(node.value) is ast.Name and frame.region is None:
        held = frame.interp.graph_memory.held(lookup(frame, node.value.id), node.attr)
        if held is not None:
            return held
    return evaluate(frame, node)
