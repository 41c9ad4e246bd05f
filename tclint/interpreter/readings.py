"""Which attributes of an object compiled code reads: those of the others are no part of its guards."""

from __future__ import annotations

import ast

from tclint.program import Class, Function
from tclint.sources.tree import by_kind
from tclint.values import Compiled, FunctionValue, Instance, Partial, Value

_CALLED = ("__call__", "forward")


def read_by(target: Value, cls: Class) -> frozenset[str]:
    """The attributes of objects of a class that a callable reads, itself or through the methods that it calls."""
    function = _function(target)
    if function is None:
        return frozenset()
    found = set(function.node_index(_read))
    wanted = [*(name for name in cls.methods if name in found), *_CALLED]
    seen: set[str] = set()
    while wanted:
        name = wanted.pop()
        method = cls.methods.get(name)
        if method is None or name in seen:
            continue
        seen.add(name)
        more = method.node_index(_read)
        found |= more
        wanted += more & cls.methods.keys()
    return frozenset(found)


def _function(target: Value) -> Function | None:
    while isinstance(target, (Compiled, Partial)):
        target = target.target if isinstance(target, Compiled) else target.func
    if isinstance(target, FunctionValue):
        return target.function
    return target.cls.methods.get("forward") if isinstance(target, Instance) else None


def _read(function: ast.AST) -> frozenset[str]:
    """The names of all attributes that a function reads, of whatever."""
    return frozenset(n.attr for n in by_kind(function)[ast.Attribute] if isinstance(n.ctx, ast.Load))
