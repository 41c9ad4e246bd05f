"""Gradients: whether a call records for a backward pass, and which modules were frozen."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.torch_facts import facts
from tclint.values import (
    NO_GRADIENT,
    PARAMETER,
    ClassValue,
    Compiled,
    Const,
    Dict,
    External,
    FunctionValue,
    Instance,
    Method,
    Object,
    Origin,
    Partial,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
)

_DEPTH: Final = 4


def needs_gradients(frame: Frame, target: Value, given: Iterable[Value]) -> bool:
    """Whether a call with gradients turned on may have a backward pass to come. What is not known, may."""
    return any(_may(frame, value, _DEPTH) for value in (target, *given))


def keeps_apart(value: Value) -> bool:
    """Whether a wrapper around a module gives its parameters gradients in memory of its own, which no CUDA graph writes."""
    if not isinstance(value, Object):
        return False
    made = value.origin.node
    given = made.keywords if isinstance(made, ast.Call) else []
    turned_on = {k.arg for k in given if isinstance(k.value, ast.Constant) and k.value.value is True}
    for word in facts.named("gives gradients memory of its own"):
        name, _, keyword = word.partition(":")
        if value.name == name and (not keyword or keyword in turned_on):
            return True
    return False


def _may(frame: Frame, value: Value, depth: int) -> bool:
    if isinstance(value, Tensor):
        return not value.flags & NO_GRADIENT and value.dtype not in ("i", "b")
    if isinstance(value, (Const, Scalar, External, ClassValue)):
        return False
    if depth == 0:
        return True
    if isinstance(value, Compiled):
        return _may(frame, value.target, depth)
    if isinstance(value, (Seq, Dict, Union, Partial, Method)):
        return any(_may(frame, inner, depth - 1) for inner in _parts(value))
    if isinstance(value, (Instance, Object)) and _identity(value) in frame.interp.learned.frozen:
        return False
    if isinstance(value, Instance):
        held = frame.interp.instance_attributes.of(value)
        return "*" in held or any(_may(frame, inner, depth - 1) for inner in held.values())
    if isinstance(value, FunctionValue):
        return _function_may(frame, value, depth - 1)
    return True


def _parts(value: Seq | Dict | Union | Partial | Method) -> tuple[Value, ...]:
    if isinstance(value, Seq):
        return value.items if value.items is not None else (value.elem,)
    if isinstance(value, Dict):
        return (*value.items.values(), *((value.elem,) if value.elem is not None else ()))
    if isinstance(value, Union):
        return value.options
    if isinstance(value, Partial):
        return (value.func, *value.args, *value.keywords.values())
    return (value.receiver,)


def _function_may(frame: Frame, value: FunctionValue, depth: int) -> bool:
    """What a function reads that it is not given: modules and parameters around it."""
    if value.bound is not None and _may(frame, value.bound, depth):
        return True
    function = value.function
    for name in function.free_names() - function.bound_names():
        read = (value.closure or {}).get(name)
        if read is None:
            read = frame.interp.names.value(function.module, name)
        if read is not None and read is not value and _may(frame, read, depth):
            return True
    return False


def _identity(value: Instance | Object) -> tuple[object, ...]:
    if isinstance(value, Instance):
        return (value.cls.module.path, value.cls.qualname)
    # By where it is made, and not by the node: that is another one whenever the file is read again.
    made = value.origin
    return (value.name, Origin(made.line, None, made.path), getattr(made.node, "col_offset", -1))


def is_frozen(frame: Frame, value: Value) -> bool:
    """Whether `requires_grad_(False)` was called on a module."""
    return isinstance(value, (Instance, Object)) and _identity(value) in frame.interp.learned.frozen


def freeze(frame: Frame, receiver: Value, wanted: Value) -> None:
    """`module.requires_grad_(False)`, and the same for every tensor of `module.parameters()`."""
    if not isinstance(wanted, Const) or not isinstance(wanted.value, bool) or frame.maybe or frame.region is not None:
        return
    if isinstance(receiver, Tensor) and receiver.flags & PARAMETER:
        made = receiver.origin.node
        if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute):
            return
        if made.func.attr not in ("parameters", "named_parameters"):
            return
        receiver = frame.interp.evaluate_silently(frame, made.func.value)
    if isinstance(receiver, Compiled):
        receiver = receiver.target
    if isinstance(receiver, (Instance, Object)):
        frozen = frame.interp.learned.frozen
        (frozen.discard if wanted.value else frozen.add)(_identity(receiver))
