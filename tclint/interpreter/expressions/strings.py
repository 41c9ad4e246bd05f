"""Format strings."""

from __future__ import annotations

import ast
from typing import Final

from tclint import events
from tclint.interpreter.evaluate import evaluate, handles
from tclint.interpreter.frame import Frame
from tclint.values import (
    NAMED,
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
_SPEC: Final = 4
"""Specifications that are longer may ask for a text as long as memory."""


def _joined_str(frame: Frame, node: ast.JoinedStr) -> Value:
    tensor: Tensor | None = None
    source = ""
    texts: list[str] | None = [] if frame.region is None else None
    for part in node.values:
        if isinstance(part, ast.Constant) and texts is not None:
            texts.append(str(part.value))
        if isinstance(part, ast.FormattedValue):
            value = evaluate(frame, part.value)
            text = _formatted(value, part) if texts is not None else None
            if texts is not None and text is not None:
                texts.append(text[:_LONG])
            else:
                texts = None
            found = tensor_of(value)
            if found is not None and found.conf > NAMED:  # a name alone makes no text of a tensor: it may be a word
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


def _formatted(value: Value, part: ast.FormattedValue) -> str | None:
    """The text of a constant in a format string."""
    spec = part.format_spec
    if not isinstance(value, Const) or part.conversion != -1:
        return None
    if spec is None:
        return str(value.value)
    wanted = "".join(str(each.value) for each in getattr(spec, "values", ()) if isinstance(each, ast.Constant))
    if len(getattr(spec, "values", ())) != 1 or len(wanted) > _SPEC:
        return None
    try:
        return format(value.value, wanted)
    except (ValueError, TypeError):
        return None


handles(ast.JoinedStr, _joined_str)
