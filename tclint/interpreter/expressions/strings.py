"""Format strings."""

from __future__ import annotations

import ast

from tclint import events
from tclint.interpreter.evaluate import evaluate, handles
from tclint.interpreter.frame import Frame
from tclint.values import (
    STR,
    Scalar,
    Tensor,
    Value,
    tensor_of,
)


def _joined_str(frame: Frame, node: ast.JoinedStr) -> Value:
    tensor: Tensor | None = None
    source = ""
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = evaluate(frame, part.value)
            found = tensor_of(value)
            if found is not None:
                tensor = found
                frame.interp.emitter.emit(events.Format, frame, part, value)
            if isinstance(value, Scalar) and value.source:
                source = value.source
    if tensor is not None:
        return Scalar("str", "tensor", frame.origin(node))
    return Scalar("str", source, frame.origin(node)) if source else STR


handles(ast.JoinedStr, _joined_str)
