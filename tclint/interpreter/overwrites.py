"""Runs of CUDA graphs: each overwrites what earlier runs gave, whoever still holds it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tclint import events
from tclint.interpreter.frame import Frame
from tclint.values import OWNED, STALE, STATIC_OUT, Value, tensor_of


def overwrite(frame: Frame | None, graph: object = None) -> None:
    """A CUDA graph runs: what the names of this frame and of its callers hold of earlier runs is overwritten."""
    while frame is not None and frame.region is None:
        for name, value in frame.env.items():
            if value.contains(OWNED | STATIC_OUT) is not None:
                frame.env[name] = value.overwritten(graph)
        frame = frame.parent


def read(frame: Frame, node: ast.AST, name: str, value: Value) -> Value:
    """Eager code reads what a name (or `self.name`) holds: told to the rules where a graph has overwritten it."""
    if not frame.interp.compile_sites.graph_runs:
        return value
    stale = value.contains(STALE)
    if stale is not None:
        frame.interp.emitter.emit(events.Reuse, frame, node, name, stale)
    return value.taken()


def operands_read(frame: Frame, operands: Sequence[tuple[ast.AST, Value]]) -> None:
    """A graph ran between the evaluation of these operands and their use: `net(a) - net(b)`."""
    for node, value in operands:
        owned = value.contains(OWNED)
        if owned is not None and not owned.flags & STALE:
            frame.interp.emitter.emit(events.Reuse, frame, node, _text(node), owned)


def receiver_read(frame: Frame, node: ast.AST, receiver: Value) -> None:
    """The same for `net(a).sub(net(b))`. A list is no reader of its elements when it gets one more."""
    tensor = tensor_of(receiver)
    if tensor is not None:
        operands_read(frame, [(node, tensor)])


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())
