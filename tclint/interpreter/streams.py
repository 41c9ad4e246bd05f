"""Side streams in a capture by hand: their work belongs to it from where they wait for it to where it waits for them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from tclint.interpreter.bindings import owner_of
from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.torch_facts import facts
from tclint.values import External, Value

_CHOOSES: Final = ("torch.cuda.stream", "torch.cuda.StreamContext")
_JOINS: Final = frozenset(facts.named("joins work of another stream"))


def enter(frame: Frame, node: ast.AST, context: ast.expr) -> None:
    """`with torch.cuda.stream(side):` within a capture: a branch of it, which has to come back."""
    if not frame.capturing or frame.region is not None or not isinstance(context, ast.Call) or not context.args:
        return
    with frame.interp.emitter.silence:
        called = evaluate(frame, context.func)
        if not isinstance(called, External) or called.name not in _CHOOSES:
            return
        stream = owner_of(evaluate(frame, context.args[0]))
    if stream is not None and not frame.maybe:
        frame.interp.recordings.do("fork", stream, frame, node)


def waits(name: str) -> bool:
    """Whether a call by this name waits for what was done elsewhere."""
    return name in _JOINS


def wait(frame: Frame, node: ast.AST, name: str, args: Sequence[Value]) -> None:
    """`stream.wait_stream(side)`, `stream.wait_event(event)`: what was done there is waited for."""
    if name in _JOINS and frame.capturing:
        joined = owner_of(args[0]) if name.endswith(".wait_stream") and args else None
        frame.interp.recordings.do("join", joined, frame, node)
