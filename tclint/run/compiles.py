"""What a compile site compiles: which functions of the program stand behind the value that it was given, or why none does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tclint.program import Function
from tclint.values import (
    ClassValue,
    Compiled,
    External,
    FunctionValue,
    Instance,
    Object,
    Partial,
    Seq,
    Tensor,
    Union,
    Value,
)
from tclint.values.object import is_some_module

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter


def receiver_of(interp: Interpreter, function: Function) -> Value | None:
    if function.cls is None or not function.is_method:
        return None
    kind = interp.classes.method_kind(function)
    if kind == "static":
        return None
    return ClassValue(function.cls) if kind == "class" else Instance(function.cls)


def roots_of(interp: Interpreter, target: Value) -> Iterator[tuple[Function, Value | None]]:
    """The functions that compiling a value compiles."""
    if isinstance(target, FunctionValue):
        interp.learned.closures[target.function] = target.closure
        # A method that is compiled in the body of its class is bound to some object of it later.
        yield target.function, target.bound if target.bound is not None else receiver_of(interp, target.function)
    elif isinstance(target, Instance):
        method = interp.classes.find_method(target.cls, "forward") or interp.classes.find_method(target.cls, "__call__")
        if method is not None:
            yield method, target
    elif isinstance(target, ClassValue):
        method = interp.classes.find_method(target.cls, "forward")
        if method is not None:
            yield method, Instance(target.cls)
    elif isinstance(target, Compiled):
        yield from roots_of(interp, target.target)
    elif isinstance(target, Partial):
        yield from roots_of(interp, target.func)
    elif isinstance(target, Object) and target.args is not None:
        yield from roots_of(interp, target.args)
    elif isinstance(target, Seq):
        for item in target.items if target.items is not None else (target.elem,):
            yield from roots_of(interp, item)
    elif isinstance(target, Union):
        for option in target.options:
            yield from roots_of(interp, option)


def why_nothing(target: Value) -> str:
    """Why nothing of the program is compiled by a site."""
    if isinstance(target, External):
        return f"`{target.name}` is outside the program"
    if is_some_module(target):
        return "which module it compiles cannot be read"
    if isinstance(target, Instance):
        return f"`{target.cls.name}` has no forward that can be read"
    return "what it compiles is outside the program" if is_external(target) else "what it compiles cannot be read"


def is_external(target: Value) -> bool:
    """A target outside the program says nothing about the program's own modules."""
    if is_some_module(target):
        return False
    return isinstance(target, (External, Tensor)) or (isinstance(target, Object) and target.args is None)
