"""Generators that the compiled function hands out beside other values: Dynamo would have to make them again, as they stand."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from tclint.events import Return
from tclint.program import Function
from tclint.sources.tree import own
from tclint.torch_facts import facts
from tclint.values import FunctionValue

CAPTURES: Final = "generator that captures and is returned"
CHANGES: Final = "generator that changes something and is returned"
_KEEPS: Final = facts.methods("writes a container")
_Place = tuple[str, ast.AST]


def of_return(event: Return) -> Iterator[_Place]:
    """What such a generator does that cannot be made again, and where it does it."""
    given = event.node.value if isinstance(event.node, ast.Return) else None
    if not isinstance(given, (ast.Tuple, ast.List)) or len(given.elts) < 2:
        return
    made = event.ask.of_function(_made)
    for part in given.elts:
        node = made.get(part.id, part) if isinstance(part, ast.Name) else part
        if isinstance(node, ast.GeneratorExp):
            if _reads_around(node, event):
                yield CAPTURES, node
        elif isinstance(node, ast.Call):
            value = event.ask.evaluate(node.func)
            if isinstance(value, FunctionValue) and value.function.module is event.module:
                yield from _of_function(value.function)


def _of_function(function: Function) -> Iterator[_Place]:
    inside = list(own(function.node))
    if function.decorators or not any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in inside):
        return
    around = function.parent.bound_names() if function.parent is not None else frozenset[str]()
    captured = (function.free_names() & around) - function.stored_names()
    first = next((each for each in inside if isinstance(each, ast.Name) and each.id in captured), None)
    if first is not None:
        yield CAPTURES, first
        return
    given = {each.arg for each in (*function.node.args.posonlyargs, *function.node.args.args)}
    changed = next((each for each in inside if _changes(each, given)), None)
    if changed is not None:
        yield CHANGES, changed


def _changes(node: ast.AST, given: set[str]) -> bool:
    """Whether a statement or a call writes to what a function was given."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPS:
        return isinstance(node.func.value, ast.Name) and node.func.value.id in given
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    if not isinstance(node, (ast.Assign, ast.AugAssign)):
        return False
    owners = (each.value for each in targets if isinstance(each, (ast.Attribute, ast.Subscript)))
    return any(isinstance(each, ast.Name) and each.id in given for each in owners)


def _reads_around(node: ast.GeneratorExp, event: Return) -> bool:
    """Whether an expression that is worked off later reads names of the function around it."""
    bound = {each.id for g in node.generators for each in ast.walk(g.target) if isinstance(each, ast.Name)}
    later = [node.elt, *(test for g in node.generators for test in g.ifs), *(g.iter for g in node.generators[1:])]
    read = {each.id for part in later for each in ast.walk(part) if isinstance(each, ast.Name)}
    function = event.enclosing
    return function is not None and bool((read - bound) & (function.bound_names() | function.stored_names()))


def _made(function: Function) -> Mapping[str, ast.expr]:
    """What the names of a function hold that one assignment alone binds."""
    bound = [each.id for each in own(function.node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    times = Counter(bound)
    return {
        each.targets[0].id: each.value
        for each in own(function.node)
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
        if times[each.targets[0].id] == 1
    }
