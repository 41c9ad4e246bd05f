"""Functions that Dynamo does not look into: those that eager code calls with no tensor in sight.

Where a function is left to eager mode, everything that it calls is a frame of its own to Dynamo, which compiles only those that
have something of torch in them: an argument that is, or holds, a tensor or a module, or a name of torch or numpy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tclint.events import Break
from tclint.interpreter.frame import Env, Frame
from tclint.program import Function
from tclint.torch_facts import facts, returns
from tclint.values import (
    ClassValue,
    Const,
    Dict,
    External,
    FunctionValue,
    Instance,
    Object,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
    tensor_of,
)

_LOOKED_INTO: Final = frozenset({"list", "tuple"})
_NUMERIC: Final = ("torch", "numpy")


def passed_over(frame: Frame, function: Function, env: Env) -> Break | None:
    """The break that leaves the caller to eager mode, where Dynamo then passes over the function that it calls."""
    at = frame.broken
    if at is None or not at.leaves or any(_may_show(frame, value) for value in env.values()):
        return None
    return None if any(_is_numeric(frame, function, name) for name in function.free_names()) else at.around()


def _may_show(frame: Frame, value: Value) -> bool:
    """Whether an argument may be, or hold, what Dynamo looks for. What nobody knows may."""
    if isinstance(value, (Const, Scalar, FunctionValue, Object)):
        return False
    if isinstance(value, (Instance, ClassValue)):
        return frame.interp.classes.is_nn_module(value.cls)
    if isinstance(value, Seq) and value.kind in _LOOKED_INTO:
        held = value.items if value.items is not None else (value.elem,)
        return any(_may_show(frame, each) for each in held)
    if isinstance(value, Dict):
        others = () if value.elem is None else (value.elem,)
        return any(_may_show(frame, each) for each in (*value.items.values(), *others))
    return not isinstance(value, Union) or any(_may_show(frame, each) for each in value.options)


def shows(frame: Frame, names: Iterable[str], own: Iterable[str]) -> bool:
    """Whether Dynamo surely finds what it looks for in a function inside this one: in a variable of this one among `names`, or
    in a module of torch or numpy that it reads itself, one of `own`."""
    local = (frame.env.get(name) for name in names)
    if any(value is not None and _shows(frame, value) for value in local):
        return True
    values = (frame.interp.names.value(frame.module, name) for name in own if name not in frame.env)
    return any(isinstance(value, External) and _is_package(value.name) for value in values)


def _shows(frame: Frame, value: Value) -> bool:
    """Whether a value is, or holds, what Dynamo looks for."""
    if isinstance(value, Union):
        return all(_shows(frame, each) for each in value.options)
    if isinstance(value, Object):
        return returns.is_module_class(value.name)
    if isinstance(value, (Seq, Dict)):
        return _may_show(frame, value) and tensor_of(value.element()) is not None
    return isinstance(value, Tensor) or (isinstance(value, (Instance, ClassValue)) and _may_show(frame, value))


def _is_package(name: str) -> bool:
    """Whether a name is that of a package or module of torch or numpy, by the callables in it."""
    return name.partition(".")[0] in _NUMERIC and not facts.callable_somewhere(name) and facts.has(name, facts.NEWEST)


def _is_numeric(frame: Frame, function: Function, name: str) -> bool:
    """Whether a name that the function reads is one of torch or numpy in its file."""
    value = frame.interp.names.value(function.module, name)
    return isinstance(value, External) and value.name.partition(".")[0] in _NUMERIC
