"""Methods of strings and numbers."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models.folding import fold
from tclint.interpreter.models.measured import measured
from tclint.torch_facts import calls
from tclint.values import BOOL, NAMED, UNKNOWN, Const, Scalar, Seq, Value, tensor_of
from tclint.values.scalar import is_text_of_tensor

_WIDE: Final = 256
"""Texts are not made wider than this."""


def call_method(
    frame: Frame, node: ast.AST, receiver: Value, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    """`receiver.name(…)` for a constant or a scalar."""
    if receiver.python_type == "str":
        prefix, result = "str.", _text_method(frame, node, receiver, name, args, keywords)
    else:
        prefix, result = "number.", receiver if name == "item" else UNKNOWN
    frame.interp.emitter.call(frame, node, prefix + name, args, keywords, receiver, result)
    if name == "join" and frame.region is not None and args and isinstance(args[0], Seq):
        if any(is_text_of_tensor(option) for option in args[0].element().options):
            frame.interp.emitter.feature(frame, node, "text of a tensor that is joined")
    if prefix == "number.":
        # The facts know an int, a float and bytes apart.
        kind = type(receiver.value).__name__ if isinstance(receiver, Const) else receiver.python_type
        if calls.key_of(f"{kind}.{name}") is not None:
            frame.interp.emitter.call(frame, node, f"{kind}.{name}", args, keywords, receiver, result)
    return result


def _text_method(
    frame: Frame, node: ast.AST, receiver: Value, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    known = _computed(receiver, name, args, keywords) if frame.region is None else None
    if known is not None:
        return known
    if name in ("startswith", "endswith"):
        return _test(receiver, name, args)
    if name == "format" and any(_is_tensor(v) for v in (*args, *keywords.values())):
        return Scalar("str", "tensor", frame.origin(node))
    return measured(frame, f"str.{name}", receiver, args, keywords, frame.origin(node))


def _is_tensor(value: Value) -> bool:
    tensor = tensor_of(value)
    return tensor is not None and tensor.conf > NAMED


def _computed(receiver: Value, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value | None:
    """What a method gives of a text that eager code knows; formats may ask for one as long as memory."""
    wide = any(isinstance(a, Const) and isinstance(a.value, int) and a.value > _WIDE for a in args)
    method = getattr(str, name, None)
    if isinstance(receiver, Const):
        receiver = Const(str(receiver.value))  # the parts of a version are texts like any other
    return fold(method, [receiver, *args], keywords) if callable(method) and not wide and "format" not in name else None


def _test(receiver: Value, name: str, args: Sequence[Value]) -> Value:
    if isinstance(receiver, Const) and args and isinstance(args[0], Const) and name in ("startswith", "endswith"):
        wanted = args[0].value
        if isinstance(wanted, str):
            found = receiver.value.startswith(wanted) if name == "startswith" else receiver.value.endswith(wanted)
            return Const(found)
    return BOOL
