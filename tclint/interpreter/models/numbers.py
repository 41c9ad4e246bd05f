"""Python's builtins that make one number of another."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tclint.interpreter import exceptions
from tclint.interpreter.frame import Frame
from tclint.interpreter.models.functions import Args, Keywords
from tclint.values import FLOAT, INT, UNKNOWN, Const, Instance, Scalar, Seq, Tensor, Value, join_all, tensor_of
from tclint.values.operators import binary
from tclint.values.scalar import ENVIRONMENT, computed, computed_with, is_drawn
from tclint.values.value import NUMBER, TENSOR


def _source(frame: Frame, tensor: Tensor) -> str:
    """Where a number comes from that is read out of a tensor."""
    captured = frame.region is not None and frame.region.keeps_numbers
    return "" if captured and tensor.is_whole_input else "data"


def conversion(kind: str) -> Callable[[Frame, ast.AST, Args, Keywords], Value]:
    def convert(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
        if not args:
            return Const({"int": 0, "float": 0.0, "bool": False, "str": ""}[kind])
        value = args[0]
        if isinstance(value, Const):
            try:
                return Const({"int": int, "float": float, "str": str, "bool": bool}[kind](value.value))
            except (ValueError, TypeError, OverflowError):
                exceptions.fails(frame, node, f"{kind}() that fails")
                return Scalar(kind)
        if any(option.source == ENVIRONMENT for option in value.options[1:]):
            return join_all(convert(frame, node, [option], keywords) for option in value.options)
        tensor = tensor_of(value)
        if tensor is not None and not tensor.is_known_number:
            return Scalar(kind, _source(frame, tensor) if kind != "str" else "tensor", frame.origin(node))
        if is_drawn(value):
            return computed_with(frame, node, value, "conversion of a drawn number", kind)
        if isinstance(value, Instance) and kind == "str" and frame.region is not None:
            frame.interp.objects.ask(frame, node, value, "__str__", "__repr__")
        if isinstance(value, Scalar):
            ref = value.ref if kind == value.type else computed(value.ref)
            return Scalar(kind, value.source, value.origin, ref)
        return Scalar(kind)

    return convert


def absolute(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    value = args[0] if args else UNKNOWN
    return value.unary(frame, node, "Abs") if value.rank in (NUMBER, TENSOR) else UNKNOWN


def rounded(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    value = args[0] if args else UNKNOWN
    if is_drawn(value):
        kind = "int" if len(args) == 1 else value.type
        return computed_with(frame, node, value, "conversion of a drawn number", kind)
    if isinstance(value, Scalar):
        return Scalar("int" if len(args) == 1 or value.type == "int" else "float", value.source, value.origin)
    if isinstance(value, Tensor):
        return value.derived(frame.origin(node), value.dtype, value.ndim)
    return INT if len(args) == 1 else FLOAT


def divided(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if len(args) != 2:
        return UNKNOWN
    return Seq(
        "tuple", (binary(frame, node, "FloorDiv", args[0], args[1]), binary(frame, node, "Mod", args[0], args[1]))
    )
