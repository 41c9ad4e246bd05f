"""What a compile site compiles: which functions of the program stand behind the value that it was given, or why none does."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tclint.program import Function
from tclint.sources.tree import nodes
from tclint.torch_facts import facts
from tclint.values import (
    UNKNOWN,
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


def unread_part(interp: Interpreter, target: Value) -> str:
    """The attribute that a compiled module was handed and calls, where nobody knows what it holds; nothing where there is none."""
    if not isinstance(target, Instance) or not interp.classes.is_nn_module(target.cls):
        return ""
    order = interp.classes.mro(target.cls)
    called = {name for cls in order for method in cls.methods.values() for name in called_on_self(method)}
    held = interp.instance_attributes.of(target)
    for cls in order:
        constructor = cls.methods.get("__init__")
        for name in stored_parameters(constructor) if constructor is not None else ():
            if name in called and held.get(name) is UNKNOWN:
                return f"self.{name}"
    return ""


def unread_bases(interp: Interpreter) -> set[str]:
    """The libraries that stand below the classes of what is compiled, apart from those of which the facts know all."""
    bases = (interp.classes.external_base(cls).partition(".")[0] for cls in interp.results.owners)
    return {b for b in set(bases) if b and b not in sys.stdlib_module_names and not facts.speaks_for(b)}


def called_on_self(method: Function) -> Iterator[str]:
    """The attributes that a method calls: `self.backbone(x)`."""
    for node in nodes(method.node):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_self(node.func.value):
            yield node.func.attr


def stored_parameters(constructor: Function) -> Iterator[str]:
    """The attributes that hold what the constructor was handed, as it is: `self.backbone = backbone`."""
    arguments = constructor.node.args
    handed = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    for node in nodes(constructor.node):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in handed:
            yield from (t.attr for t in node.targets if isinstance(t, ast.Attribute) and is_self(t.value))


def is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


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
