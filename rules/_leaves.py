"""Leaves that compiled code makes: whether what is computed from one is handed out with its gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Call
from tclint.program import Function
from tclint.sources.tree import own
from tclint.torch_facts import facts
from tclint.values import (
    HOST,
    INPUT,
    NEEDS_GRAD,
    NO_GRADIENT,
    PARAMETER,
    Const,
    External,
    FunctionValue,
    Scalar,
    Tensor,
)

_WITHOUT: Final = INPUT | NO_GRADIENT | HOST
_WITH: Final = PARAMETER | NEEDS_GRAD


def is_handed_out(function: ast.AST, leaf: ast.Call) -> bool:
    """Whether a function returns `x.requires_grad_()`, or what it computes from it, with a gradient to follow.

    Names are followed from the call on, in the order of the source.
    """
    followed: set[str] = set()
    for statement in own(function):
        if isinstance(statement, ast.Return) and statement.value is not None:
            if statement.lineno >= leaf.lineno and _carries(statement.value, followed, leaf):
                return True
        elif isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names = {name for target in targets for name in _names(target)}
            if _carries(statement.value, followed, leaf):
                followed |= names
            elif not isinstance(statement, ast.AugAssign):
                followed -= names
        elif isinstance(statement, ast.Expr) and statement.value is leaf and isinstance(leaf.func, ast.Attribute):
            followed |= set(_names(leaf.func.value))
    return False


def is_asked_for(event: Call, function: ast.AST, leaf: ast.Call) -> bool:
    """Whether `torch.autograd.grad` gets the leaf, here or in a function of the program that is given it.

    Dynamo then traces again, and ends the graph at that call (`graph_break_on_autograd_grad`).
    """
    made = {
        name
        for node in own(function)
        if isinstance(node, ast.Assign) and node.value is leaf
        for target in node.targets
        for name in _names(target)
    }
    for call in own(function):
        if not isinstance(call, ast.Call) or call.lineno <= leaf.lineno:
            continue
        given = (*call.args, *(keyword.value for keyword in call.keywords))
        if not made.isdisjoint(name for value in given for name in _names(value)):
            called = event.ask.evaluate(call.func)
            inside = own(called.function.node) if isinstance(called, FunctionValue) else ()
            if _is_grad(call) or any(isinstance(node, ast.Call) and _is_grad(node) for node in inside):
                return True
    return False


def has_no_gradient(event: Call, tensor: Tensor) -> bool:
    """Whether a tensor is cut from what it was computed from, or is computed from inputs and fresh tensors alone."""
    if tensor.flags & NO_GRADIENT:
        return True
    func = event.node.func if isinstance(event.node, ast.Call) else None
    made = func.value if isinstance(func, ast.Attribute) else None
    if isinstance(made, ast.Name):
        made = tensor.origin.node if isinstance(tensor.origin.node, ast.expr) else None
    if made is None:
        return False
    last = made.func if isinstance(made, ast.Call) else made
    if isinstance(last, ast.Attribute) and last.attr in facts.methods("gives what has no gradient"):
        return True
    read = [event.ask.evaluate(node) for node in ast.walk(made) if isinstance(node, ast.Name)]
    tensors = [value for value in read if isinstance(value, Tensor)]
    if not tensors or not all(isinstance(value, (Tensor, Const, Scalar, External)) for value in read):
        return False
    return all(each.flags & _WITHOUT and not each.flags & _WITH for each in tensors)


def keeps_no_gradients(function: Function) -> bool:
    """Whether a decorator switches gradients off."""
    switches = facts.methods("is a context that switches gradients")
    return any(
        node.attr in switches for d in function.decorators for node in ast.walk(d) if isinstance(node, ast.Attribute)
    )


def _carries(node: ast.AST, followed: set[str], leaf: ast.Call) -> bool:
    """Whether an expression is computed from the leaf, or a name that is, and still has a gradient."""
    if node is leaf or isinstance(node, ast.Name) and node.id in followed:
        return True
    method = node.func if isinstance(node, ast.Call) else node
    if isinstance(method, ast.Attribute) and method.attr in facts.methods("gives what has no gradient"):
        return False
    if isinstance(node, ast.Call) and _is_grad(node):
        again = (keyword.value for keyword in node.keywords if keyword.arg == "create_graph")
        if not any(isinstance(value, ast.Constant) and value.value is True for value in again):
            return False
    if isinstance(node, (ast.Compare, ast.Lambda)):
        return False
    return any(_carries(child, followed, leaf) for child in ast.iter_child_nodes(node))


def _is_grad(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "grad"
        or (isinstance(call.func, ast.Name) and call.func.id == "grad")
    )


def _names(target: ast.AST) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
