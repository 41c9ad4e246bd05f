"""Lists that code adds to, and that are no longer from call to call."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import TypeGuard

from tclint.events import Call
from tclint.program import Function
from tclint.sources.once import called_on_self, done
from tclint.sources.tree import nodes
from tclint.torch_facts import facts

_SHRINKS = facts.methods("takes out of a container")


def is_begun_anew(event: Call, name: str) -> bool:
    """Whether every call binds the list anew or empties it: what is added is what this call adds."""
    around = event.enclosing
    if around is None:
        return False
    compiled = itertools.takewhile(lambda caller: caller.region is not None, event.ask.callers())
    functions = [around, *(caller.function for caller in compiled if caller.function is not None)]
    return any(name in begun for function in functions for begun in _begun_by(function))


def _begun_by(function: Function) -> Iterator[frozenset[str]]:
    """The attributes that a function binds anew or empties in every call, itself or by a method of its class."""
    yield function.node_index(_begun)
    methods = function.cls.methods if function.cls is not None else {}
    for called in sorted(function.node_index(_called) & methods.keys()):
        yield methods[called].node_index(_begun)


def _begun(root: ast.AST) -> frozenset[str]:
    """`self.seen = []`, `self.seen.clear()`, `self.seen = self.seen[-8:]`, done in any case."""
    found: set[str] = set()
    for statement in done(getattr(root, "body", ())):
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            places = (each for each in targets if isinstance(each, ast.Attribute))
            found.update(each.attr for each in places if _is_new(statement.value, each.attr))
        called = statement.value if isinstance(statement, ast.Expr) else None
        func = called.func if isinstance(called, ast.Call) else None
        if func is not None and _is_of_attribute(func) and func.attr == "clear":
            found.add(func.value.attr)
    return frozenset(found)


def _is_new(value: ast.expr, name: str) -> bool:
    """Whether what is bound is another list, or a part of the one before."""
    return isinstance(value, ast.Subscript) or not any(
        isinstance(each, ast.Attribute) and each.attr == name for each in nodes(value)
    )


def _called(root: ast.AST) -> frozenset[str]:
    return frozenset(called_on_self(getattr(root, "body", ())))


def bounded(root: ast.AST) -> frozenset[str]:
    """The attributes whose length is held against a number before something is added, or out of which something is taken."""
    found: set[str] = set()
    for node in nodes(root):
        if isinstance(node, (ast.If, ast.While)):
            added = {each.value.attr for each in nodes(node) if _is_of_attribute(each) and each.attr not in _SHRINKS}
            found.update(name for name, most in _counted(node.test) if most or name in added)
        elif isinstance(node, ast.Delete):
            gone = (each.value for each in node.targets if isinstance(each, ast.Subscript))
            found.update(each.attr for each in gone if isinstance(each, ast.Attribute))
        elif isinstance(node, ast.Call) and _is_of_attribute(node.func) and node.func.attr in _SHRINKS:
            found.add(node.func.value.attr)
    return frozenset(found)


class _OfAttribute(ast.Attribute):
    """`self.seen.append`."""

    value: ast.Attribute


def _is_of_attribute(node: ast.AST) -> TypeGuard[_OfAttribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute)


def _counted(test: ast.expr) -> Iterator[tuple[str, bool]]:
    """The attributes whose `len` a test compares, and whether with more than "is there anything"."""
    for node in nodes(test):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            continue
        for side, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
            called = side if isinstance(side, ast.Call) and isinstance(side.func, ast.Name) else None
            if called is not None and ast.unparse(called.func) == "len" and called.args:
                if isinstance(called.args[0], ast.Attribute):
                    yield called.args[0].attr, not (isinstance(other, ast.Constant) and other.value in (0, 1))
