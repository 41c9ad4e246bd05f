"""Calls of builtins that surely fail: what they are given says so."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tclint.interpreter import exceptions
from tclint.interpreter.frame import Frame
from tclint.values import Const, Scalar, Seq, Value


def tell(frame: Frame, node: ast.AST, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> None:
    """A call that raises, whatever else is true, where a `try` is around it."""
    if frame.region is not None and len(args) == 1 and not keywords and _fails(name, args[0]):
        exceptions.fails(frame, node, f"{name}() that fails")


def _fails(name: str, value: Value) -> bool:
    if name in ("max", "min", "next"):
        return isinstance(value, Seq) and value.items == ()
    if name in ("len", "list", "tuple", "iter", "sum"):
        return isinstance(value, (Const, Scalar)) and value.python_type in ("int", "float", "bool")
    return False
