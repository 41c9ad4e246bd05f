"""Methods of strings and numbers."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models.measured import measured
from tclint.values import BOOL, UNKNOWN, Const, Scalar, Seq, Value, tensor_of


def call_method(
    frame: Frame, node: ast.AST, receiver: Value, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    """`receiver.name(…)` for a constant or a scalar."""
    if receiver.python_type == "str":
        prefix, result = "str.", _text_method(frame, node, receiver, name, args, keywords)
    else:
        prefix, result = "number.", receiver if name == "item" else UNKNOWN
    frame.interp.emitter.call(frame, node, prefix + name, args, keywords, receiver, result)
    return result


def _text_method(
    frame: Frame, node: ast.AST, receiver: Value, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    if name in ("startswith", "endswith"):
        return _test(receiver, name, args)
    if isinstance(receiver, Const) and not keywords and (known := _folded(receiver.value, name, args)) is not None:
        return known
    if name == "format" and any(tensor_of(v) is not None for v in (*args, *keywords.values())):
        return Scalar("str", "tensor", frame.origin(node))
    return measured(frame, f"str.{name}", receiver, args, keywords, frame.origin(node))


def _test(receiver: Value, name: str, args: Sequence[Value]) -> Value:
    if isinstance(receiver, Const) and args and isinstance(args[0], Const) and name in ("startswith", "endswith"):
        wanted = args[0].value
        if isinstance(wanted, str):
            found = receiver.value.startswith(wanted) if name == "startswith" else receiver.value.endswith(wanted)
            return Const(found)
    return BOOL


_LONGEST: Final = 200
"""Of longer texts, and with larger numbers, nothing is computed."""


def _folded(text: str, name: str, args: Sequence[Value]) -> Value | None:
    """What a method of a text gives where all is known: a text, a number, or several texts."""
    given = [a.value for a in args if isinstance(a, Const)]
    method = getattr(str, name, None)
    if method is None or len(given) < len(args) or len(text) > _LONGEST:
        return None
    if any(len(v) > _LONGEST if isinstance(v, str) else isinstance(v, int) and abs(v) > _LONGEST for v in given):
        return None
    try:
        found = method(str(text), *given)
    except (TypeError, ValueError, LookupError):
        return None
    if isinstance(found, (str, int)):
        return Const(found)
    if isinstance(found, (list, tuple)) and all(isinstance(part, str) for part in found):
        return Seq("list" if isinstance(found, list) else "tuple", tuple(Const(part) for part in found))
    return None
