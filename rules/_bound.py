"""Methods of objects that compiled code makes.

Where the graph breaks in what a function calls, Dynamo writes down what it calls, to go on there in Python. A method of an object
that has come from outside is written as `object.method`. Of one that the function itself has made there is no such name, and
the whole function is left to eager mode. Behind an earlier break the object is a variable again, and has one.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tclint.events import GraphBreak
from tclint.program import Function
from tclint.values import ClassValue, Instance


def method_of_made(event: GraphBreak) -> str:
    """The method in which the graph breaks, as it is called, where its object was made in this function; or nothing."""
    called = event.node.func if isinstance(event.node, ast.Call) else None
    if not isinstance(called, ast.Attribute) or event.function is None or not event.resumes:
        return ""
    bound = next(iter(event.given.values()), None)
    if event.function.function.cls is None or event.function.function.name != called.attr:
        return ""  # what an attribute holds is none of its methods
    if not isinstance(bound, Instance) or event.ask.is_nn_module(bound.cls):
        return ""
    made: ast.AST = called.value
    while isinstance(made, (ast.Attribute, ast.Subscript)):
        made = made.value
    if isinstance(made, ast.Name):
        makers = event.ask.of_function(_makers).get(made.id, ())
        if event.ask.is_broken_before(event.at):
            return ""
    else:
        makers = (made,)
    return ast.unparse(called) if makers and all(_makes(event, maker) for maker in makers) else ""


def _makes(event: GraphBreak, maker: ast.AST | None) -> bool:
    value = event.ask.evaluate(maker.func) if isinstance(maker, ast.Call) else None
    return isinstance(value, ClassValue) and not event.ask.is_nn_module(value.cls)


def _makers(function: Function) -> Mapping[str, Sequence[ast.AST | None]]:
    """For each name of a function, what is assigned to it; None for what is bound in another way."""
    found: dict[str, list[ast.AST | None]] = {}
    plain: set[ast.AST] = set()
    for node in ast.walk(function.node):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name):
                plain.add(target)
                found.setdefault(target.id, []).append(node.value)  # type: ignore[attr-defined]
    for node in ast.walk(function.node):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in plain:
            found.setdefault(node.id, []).append(None)
        elif isinstance(node, ast.arg):
            found.setdefault(node.arg, []).append(None)
    return found
