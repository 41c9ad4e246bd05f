"""Format strings."""

from __future__ import annotations

import ast
from typing import Final

from tclint import events
from tclint.interpreter.evaluate import evaluate, handles
from tclint.interpreter.frame import Frame
from tclint.values import (
    STR,
    Const,
    Instance,
    Object,
    Scalar,
    Tensor,
    Value,
    tensor_of,
)

_LONG: Final = 200
"""What is longer is not told apart."""


def _joined_str(frame: Frame, node: ast.JoinedStr) -> Value:
    tensor: Tensor | None = None
    source = ""
    texts: list[str] | None = [] if frame.region is None else None
    for part in node.values:
        if isinstance(part, ast.Constant) and texts is not None:
            texts.append(str(part.value))
        if isinstance(part, ast.FormattedValue):
            value = evaluate(frame, part.value)
            plain = isinstance(value, Const) and part.format_spec is None and part.conversion == -1
            if texts is not None and plain and isinstance(value, Const):
                texts.append(str(value.value)[:_LONG])
            else:
                texts = None
            found = tensor_of(value)
            if found is not None:
                tensor = found
            if found is not None or isinstance(value, (Instance, Object)):
                frame.interp.emitter.emit(events.Format, frame, part, value)
            if isinstance(value, Scalar) and value.source:
                source = value.source
    if tensor is not None:
        return Scalar("str", "tensor", frame.origin(node))
    if texts is not None:
        return Const("".join(texts)[:_LONG])
    return Scalar("str", source, frame.origin(node)) if source else STR


handles(ast.JoinedStr, _joined_str)
