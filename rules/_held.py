"""Who holds an object whose numbers change.

Dynamo makes an integer dynamic that it reads by way of an argument or a captured variable. What it reads by way of a module or
of a name of the file stays the number that it was, however deep the object lies. A float that compiled code changes stays it
everywhere: the new one is an output of the graph, and no graph has floats for outputs.
"""

from __future__ import annotations

import ast
from typing import Literal

from tclint.events import Store
from tclint.program import Function
from tclint.sources.once import only_once
from tclint.sources.tree import Position, position
from tclint.values import Instance

Holder = Literal["module", "global", "caller"]


def object_of(event: Store) -> ast.expr | None:
    """The expression of the object that a store changes: `state` in `state.t += 1` and in `state["t"] += 1`."""
    node = event.node
    target = (
        node.target if isinstance(node, ast.AugAssign) else node.targets[0] if isinstance(node, ast.Assign) else None
    )
    return target.value if isinstance(target, (ast.Attribute, ast.Subscript)) else None


def holder(event: Store) -> Holder | None:
    """What holds the object that a store changes: a module, a name of the file, or whoever calls (by an argument, or as a
    variable of the function around); None where it is made in the call, and where nobody knows.

    In a method of an object it is asked of the calls that led there: `self.schedule.advance()` changes what the module holds,
    unless that call happens only once. Behind a graph break the method is compiled by itself, and nobody asks.
    """
    if event.ask.is_broken():
        return None
    expression, function, module = object_of(event), event.enclosing, event.module
    here = None
    for caller, call in [*event.ask.calls_here(), (None, None)]:
        root = _root(expression)
        if root is None or function is None:
            return None
        if root not in function.bound_names():
            return "caller" if event.ask.captures(root, here) else "global" if module.named(root) is not None else None
        if root != _receiver(function):
            return "caller" if caller is None and root in _arguments(function) else None
        owner = event.ask.local(root, here)
        if isinstance(owner, Instance) and event.ask.is_nn_module(owner.cls):
            return "module" if not isinstance(expression, ast.Name) else None
        if caller is None or caller.region is None:
            return "caller"
        if not isinstance(call, ast.Call) or caller.function is None or position(call) in caller.function.index(_once):
            return None
        expression = call.func.value if isinstance(call.func, ast.Attribute) else None
        function, module, here = caller.function, caller.module, caller
    return None


def _once(function: Function) -> frozenset[Position]:
    return only_once(function.node)


def _receiver(function: Function) -> str | None:
    """The name of the object that a method is called on."""
    return next(iter(_arguments(function)), None) if function.cls is not None else None


def _arguments(function: Function) -> list[str]:
    return [each.arg for each in (*function.node.args.posonlyargs, *function.node.args.args)]


def _root(expression: ast.expr | None) -> str | None:
    while isinstance(expression, (ast.Attribute, ast.Subscript)):
        expression = expression.value
    return expression.id if isinstance(expression, ast.Name) else None
