"""Which feature of the language shows where compiled code registers a hook, removes one, or keeps its handle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Call, Event, Return, Store
from tclint.program import Function
from tclint.sources.tree import by_kind
from tclint.torch_facts import facts
from tclint.values import INPUT, PARAMETER, FunctionValue, Object, Seq, Value, tensor_of

_HANDLE: Final = "torch.utils.hooks.RemovableHandle"
_HOOK: Final = "hook of a tensor"
_OF_INPUT: Final = "hook of what comes in"
_REGISTERS: Final = "Tensor.register_hook"
_LAYOUT: Final = facts.methods("asks how a tensor lies in memory")
_KEEPS: Final = facts.methods("writes a container")


def of_call(event: Call) -> str | None:
    """What a call asks of a hook's handle, or of the hook of a tensor."""
    if isinstance(event.receiver, Object) and event.receiver.name == _HANDLE:
        return _of_handle(event, event.receiver)
    return _of_hook(event.args[0]) if event.name == _REGISTERS and event.args else None


def _of_handle(event: Call, handle: Object) -> str | None:
    """A method of a handle, in a function that is compiled."""
    if event.ask.runs_eagerly() or handle.kind == _OF_INPUT:
        return None  # the hook of an argument or a parameter is put on and taken off behind the graph
    if handle.kind != _HOOK:
        return f"method of a {_HANDLE} that is held"
    # Behind a break the function is eager: a handle that is alive there cannot be made again.
    return f"{event.method}() of the {_HOOK}" if not event.ask.is_broken() else None


def _of_hook(hook: Value) -> str | None:
    """A hook that asks how the gradient lies in memory."""
    node = hook.function.node if isinstance(hook, FunctionValue) else None
    own = node.args.args[-1:] if node is not None else ()
    if node is None or not own:
        return None
    for each in ast.walk(node):
        asked = each.func if isinstance(each, ast.Call) else None
        if isinstance(asked, ast.Attribute) and isinstance(asked.value, ast.Name) and asked.value.id == own[0].arg:
            if asked.attr in _LAYOUT:
                return f"{_HOOK} that asks how a gradient lies"
    return None


def of_store(event: Store) -> str | None:
    """A handle that is kept in a global."""
    made = getattr(event.node, "value", None)
    return f"{_HOOK} in a global" if event.target == "global" and _registers(event, made, of_inputs=True) else None


def of_return(event: Return) -> Iterator[str]:
    """The handle of a hook of what the function computes, which cannot be made again for those who called it."""
    given = event.value.items or () if isinstance(event.value, Seq) else (event.value,)
    if any(isinstance(each, Object) and each.kind == _HOOK for each in given):
        yield f"handle of the {_HOOK} that is returned"
    elif any(_registers(event, each) for each in event.ask.of_function(_kept)) and not event.ask.is_broken():
        yield f"handle of the {_HOOK} that is kept"


def _registers(event: Event, node: ast.expr | None, of_inputs: bool = False) -> bool:
    """Whether an expression registers the hook of a tensor that the function computes, or of any."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if f"Tensor.{node.func.attr}" != _REGISTERS:
        return False
    tensor = tensor_of(event.ask.evaluate(node.func.value))
    return tensor is not None and (of_inputs or not tensor.flags & (INPUT | PARAMETER))


def _kept(function: Function) -> tuple[ast.expr, ...]:
    """What a function writes to attributes and items, or adds to a container that is an attribute."""
    found: list[ast.expr] = []
    there = by_kind(function.node)
    for bound in there[ast.Assign]:
        if any(isinstance(t, (ast.Attribute, ast.Subscript)) for t in bound.targets):
            found.append(bound.value)
    for call in there[ast.Call]:
        if isinstance(call.func, ast.Attribute) and call.func.attr in _KEEPS:
            if isinstance(call.func.value, ast.Attribute):
                found += call.args
    return tuple(each for each in found if isinstance(each, ast.Call))
