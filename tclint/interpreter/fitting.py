"""Whether what a call passes fits the parameters of a function: of several under one name, the one that is meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tclint.interpreter.parameters import signature
from tclint.program import Function
from tclint.values import Seq, Value


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
