"""Whether what a call passes fits the parameters of a function: of several under one name, the one that is meant."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tclint.interpreter.parameters import signature
from tclint.program import Function
from tclint.values import NAMED, Compiled, FunctionValue, Instance, Seq, Tensor, Value

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter


def given_twice(function: Function, args: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    """Whether a parameter gets a value by position and one by name: Python raises, so this function is not the one meant."""
    if not keywords:
        return False
    known = signature(function)
    first = len(function.node.args.posonlyargs)
    for name, value in zip(known.names[first:], args[first:], strict=False):
        if isinstance(value, Seq) and value.kind == "star":
            return False
        if name in keywords:
            return True
    return False


def left_out(function: Function, args: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    """Whether a parameter that needs a value gets none: of several functions under one name this is not the one meant."""
    known = signature(function)
    if _is_open(args):
        return False
    if len(args) >= len(known.nodes) and not known.kwonly:
        return False
    rest = (*known.nodes[len(args) :], *known.kwonly)
    return any(default is None and node.arg not in keywords for node, default in rest)


def too_many(function: Function, args: Sequence[Value]) -> bool:
    """Whether more is passed by position than a function takes: Python raises, so this function is not the one meant."""
    known = signature(function)
    return len(args) > len(known.nodes) and not known.vararg and not _is_open(args)


def fits(function: Function, args: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    """Whether Python can bind what a call passes, all of which is known, to the parameters of a function."""
    known = signature(function)
    if _is_open(args):
        return True
    taken = {node.arg for node, _ in (*known.nodes[len(function.node.args.posonlyargs) :], *known.kwonly)}
    if not known.kwarg and not taken.issuperset(keywords):
        return False
    if too_many(function, args):
        return False
    return not given_twice(function, args, keywords) and not left_out(function, args, keywords)


def _is_open(args: Sequence[Value]) -> bool:
    """Whether a list is unpacked of which nobody knows how much it holds."""
    # Asked of every call, and few are given a sequence.
    return Seq in map(type, args) and any(isinstance(value, Seq) and value.kind == "star" for value in args)


def meant(
    interp: Interpreter, options: Sequence[Value], name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Sequence[Value]:
    """Those of several things that may be what a call means; `name` is the method that it calls, if any.

    Others under the name would raise. Where all of them would, more is passed than is known.
    """
    taking = [option for option in options if _takes(interp, option, name, args, keywords)]
    return taking or options


def _takes(interp: Interpreter, value: Value, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    """Whether something may be called like this, as far as its signature tells."""
    if isinstance(value, Compiled):
        value = value.target
    if len(value.options) > 1:
        return any(_takes(interp, option, name, args, keywords) for option in value.options)
    if isinstance(value, Instance):
        find = interp.classes.find_method
        method = find(value.cls, name) if name else find(value.cls, "__call__") or find(value.cls, "forward")
        if method is None or interp.classes.method_kind(method):
            return True
        value = interp.functions.value(method).bound_to(value)
        value = value.target if isinstance(value, Compiled) else value
    elif name:
        return True
    if not isinstance(value, FunctionValue):
        return True
    given = args if value.bound is None else [value.bound, *args]
    return fits(value.function, given, keywords) and not _mistaken(value.function, given, keywords)


def _mistaken(function: Function, args: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    """Whether a tensor is passed for what is there to be a flag: another one of the same place has a tensor there."""
    known = signature(function)
    passed = [*zip(known.nodes, args, strict=False)]
    passed += [(each, keywords[each[0].arg]) for each in (*known.nodes, *known.kwonly) if each[0].arg in keywords]
    return any(isinstance(value, Tensor) and value.conf > NAMED and _is_flag(*parameter) for parameter, value in passed)


def _is_flag(node: ast.arg, default: ast.expr | None) -> bool:
    if isinstance(node.annotation, ast.Name):
        return node.annotation.id == "bool"
    return node.annotation is None and isinstance(default, ast.Constant) and isinstance(default.value, bool)
