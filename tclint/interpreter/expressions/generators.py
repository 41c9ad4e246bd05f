"""`await` and `yield`."""

from __future__ import annotations

import ast

from tclint import events
from tclint.interpreter.evaluate import evaluate, handles
from tclint.interpreter.frame import Frame
from tclint.values import (
    NONE,
    UNKNOWN,
    Value,
)


def _await(frame: Frame, node: ast.Await) -> Value:
    frame.interp.emitter.feature(frame, node, "await")
    return evaluate(frame, node.value)


def _yield(frame: Frame, node: ast.Yield) -> Value:
    value = NONE if node.value is None else evaluate(frame, node.value)
    frame.interp.emitter.emit(events.Return, frame, node, value, True)
    if frame.on_yield is not None:
        frame.on_yield(value)
        return UNKNOWN
    frame.yields.append(value)
    frame.inexact |= not frame.runs_once
    return UNKNOWN


def _yield_from(frame: Frame, node: ast.YieldFrom) -> Value:
    value = evaluate(frame, node.value)
    items = value.known_items(frame) if frame.region is None else None
    frame.yields.extend(items if items is not None else [value.iterate(frame, node)])
    frame.inexact |= items is None or not frame.runs_once
    return UNKNOWN


handles(ast.Await, _await)
handles(ast.Yield, _yield)
handles(ast.YieldFrom, _yield_from)
