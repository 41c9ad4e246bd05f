"""Calls of builtins that surely fail, as what they are given says, and the exceptions that are caught then."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Final

from tclint.interpreter import exceptions
from tclint.interpreter.frame import Frame
from tclint.interpreter.models import objects
from tclint.torch_facts import facts
from tclint.torch_facts.kind import NUMBERS
from tclint.values import Const, Method, Object, Scalar, Seq, Value
from tclint.values.object import TRACEBACK

_OF_NOTHING: Final = frozenset(facts.named("fails where it is given nothing"))
_OF_NUMBERS: Final = frozenset(facts.named("fails where it is given a number"))


def tell(frame: Frame, node: ast.AST, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> None:
    """A call that raises, whatever else is true, where a `try` is around it."""
    if frame.region is None:
        return
    alone = len(args) == 1 and not keywords
    if (alone and _fails(name, args[0])) or (name == "zip" and _differ(args, keywords)):
        exceptions.fails(frame, node, f"{name}() that fails")


def _differ(args: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    """`zip(a, b, strict=True)` of sequences that are known to be of different lengths."""
    strict = keywords.get("strict")
    known = [len(value.items) for value in args if isinstance(value, Seq) and value.items is not None]
    return isinstance(strict, Const) and strict.value is True and len(known) == len(args) and len(set(known)) > 1


def _fails(name: str, value: Value) -> bool:
    if f"builtins.{name}" in _OF_NOTHING:
        return isinstance(value, Seq) and value.items == ()
    if f"builtins.{name}" in _OF_NUMBERS:
        return isinstance(value, (Const, Scalar)) and value.python_type in NUMBERS
    return False


def _attribute(frame: Frame, node: ast.AST, receiver: Object, name: str) -> Value:
    """An attribute of an exception that a handler caught."""
    return Object(TRACEBACK, frame.origin(node)) if name == "__traceback__" else Method(receiver, name)


objects.register("builtins.Exception", attribute=_attribute)
