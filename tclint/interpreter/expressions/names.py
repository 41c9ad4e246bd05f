"""Names and attributes."""

from __future__ import annotations

import ast

from tclint import events
from tclint.interpreter.evaluate import evaluate, handles, lookup
from tclint.interpreter.frame import Frame
from tclint.values import (
    STALE,
    Value,
    tensor_of,
)


def _name(frame: Frame, node: ast.Name) -> Value:
    value = frame.env.get(node.id)
    if value is not None:
        if frame.region is None:
            stale = tensor_of(value)
            if stale is not None and stale.flags & STALE:
                frame.interp.emitter.emit(events.Reuse, frame, node, node.id, stale)
        return value
    return lookup(frame, node.id)


def _attribute(frame: Frame, node: ast.Attribute) -> Value:
    base = node.value
    if type(base) is ast.Name and base.id in frame.paths:
        value = frame.env.get(f"{base.id}.{node.attr}")
        if value is not None:
            return value
    receiver = evaluate(frame, base)
    return receiver.attribute(frame, node, node.attr)


def _named(frame: Frame, node: ast.NamedExpr) -> Value:
    value = evaluate(frame, node.value)
    frame.set(node.target.id, value)
    return value


handles(ast.Name, _name)
handles(ast.Attribute, _attribute)
handles(ast.NamedExpr, _named)
