"""Where attributes are read and results put away, in all files: what a rule asks for when a store alone does not tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from tclint.events import Event, Store
from tclint.program import Class, Function, Module, mentioning
from tclint.sources.tree import nodes
from tclint.torch_facts import facts
from tclint.values import Instance, Value

_Class = tuple[str, str]
"""A class by its name and its file."""


def read_in_files(event: Store, name: str, owner: Value) -> list[tuple[str, int, int]]:
    """File, line and column of every read of an attribute of an object: where its class is not known, of any of that name."""
    cls = owner.cls if isinstance(owner, Instance) else None
    place = (cls.name, cls.module.path) if cls is not None else None
    found = event.ask.of_files(_reads, name, place, event.module.path)
    return [(path, line, column) for path, places in found.items() for line, column in places]


@mentioning(0)
def _reads(module: Module, name: str, cls: _Class | None, here: str) -> tuple[tuple[int, int], ...]:
    """In one file: `here`, or one that knows the class."""
    if re.search(rb"\.\s*" + name.encode() + rb"\b", module.data) is None:
        return ()
    if cls is not None and module.path != here and not _knows(module, *cls):
        return ()
    return tuple(
        (node.lineno, node.col_offset)
        for node in nodes(module.tree)
        if type(node) is ast.Attribute and node.attr == name and type(node.ctx) is ast.Load
    )


def kept_by_caller(event: Event, method: Function, cls: Class) -> str | None:
    """The first place where what a method returns is put into a container, as the method's file would name it.

    Who calls a method is not always in sight: a function that is handed on, a test.
    """
    found = event.ask.of_files(_kept_calls, method.name, cls.name, cls.module.path)
    place = min(((path, line) for path, line in found.items()), default=None)
    if place is None:
        return None
    return f"line {place[1]}" if place[0] == method.module.path else f"{place[0]}:{place[1]}"


@mentioning(0)
def _kept_calls(module: Module, method: str, cls: str, home: str) -> int:
    """The first line of one file, which knows the class; 0 where there is none."""
    if not _knows(module, cls, home) or re.search(rb"\.\s*" + method.encode() + rb"\s*\(", module.data) is None:
        return 0
    lines = [
        call.lineno
        for node in nodes(module.tree)
        for call in _put_away(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == method
    ]
    return min(lines, default=0)


def _knows(module: Module, cls: str, home: str) -> bool:
    """Whether a file may hold objects of a class: it names it, and has no other one by that name."""
    if module.path == home:
        return True
    return cls.encode() in module.data and not isinstance(module.named(cls), Class)


def _put_away(node: ast.AST) -> Sequence[ast.expr]:
    """What a node puts into a container, as it is."""
    if isinstance(node, (ast.ListComp, ast.SetComp)):
        return (node.elt,)
    if isinstance(node, ast.DictComp):
        return (node.value,)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.args if node.func.attr in facts.named("puts a value into a container") else ()
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Subscript, ast.Attribute)):
        return (node.value,)
    return ()
