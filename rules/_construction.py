"""Which feature of the language shows where compiled code makes an object of a class of the program."""

from __future__ import annotations

import ast
import builtins
import collections
from collections.abc import Iterator
from typing import Final

from tclint.events import Event, ProgramCall
from tclint.program import Class, Function
from tclint.rules._language import metaclass
from tclint.sources.tree import text
from tclint.values import ClassValue, External

ABSTRACT: Final = "object of an abstract class"


def of_construction(event: ProgramCall) -> Iterator[str]:
    """What making an object of a class of the program needs."""
    if not isinstance(event.function, ClassValue):
        return
    cls = event.function.cls
    if event.ask.method(cls, "__new__") is not None:
        yield "__new__"  # and what fails fails in there
    elif "try" in event.blocks and is_abstract(event, cls):
        yield ABSTRACT
    base = event.ask.external_base(cls)
    if base and not event.ask.is_nn_module(cls):
        yield f"object of a class below {base}"
        if _overrides(event, event.function, base):
            yield f"object of a class below {base} that overrides its methods"
    if isinstance(event.node, ast.Call) and isinstance(event.node.func, ast.Subscript):
        if isinstance(event.ask.evaluate(event.node.func.value), ClassValue):  # and not a class out of a dict
            yield "class with type arguments"
    meta = metaclass(event, event.function)
    makes = event.ask.method(meta.cls, "__call__") if meta is not None else None
    if makes is not None and any(
        isinstance(each, ast.Attribute) and _is_written(each, makes) for each in ast.walk(makes.node)
    ):
        yield "__call__ of a metaclass that writes to what it makes"


def is_abstract(event: Event, cls: Class) -> bool:
    """Whether Python makes no object of a class: a method of it is there to be overridden, and nobody has."""
    order = event.ask.mro(cls)
    told = (text(each).rpartition(".")[2] for owner in order for each in owner.node.bases)
    metas = (text(each.value).rpartition(".")[2] for owner in order for each in owner.node.keywords)
    if "ABC" not in told and "ABCMeta" not in metas:
        return False
    first: dict[str, Function] = {}
    for owner in order:
        for name, method in owner.methods.items():
            first.setdefault(name, method)
    return any(method.is_abstract for method in first.values())


def _is_written(node: ast.Attribute, function: Function) -> bool:
    """Whether an attribute of something else than the first argument is written."""
    own = function.node.args.args[:1]
    return (
        isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id not in {a.arg for a in own}
    )


def _overrides(event: Event, value: ClassValue, base: str) -> bool:
    """Whether a class has a method under a name that the class of Python's own below it has, too."""
    module, _, name = base.rpartition(".")
    below = getattr({"builtins": builtins, "collections": collections}.get(module), name, None)
    own = (method for each in event.ask.mro(value.cls) for method in each.methods)
    return below is not None and any(method in dir(below) for method in own if method != "__new__")


def is_pydantic(event: ProgramCall) -> bool:
    """Whether a model of pydantic is built."""
    if not isinstance(event.function, ClassValue):
        return False
    cls = event.function.cls
    based = event.ask.external_base(cls).startswith("pydantic.")
    return based or any(_pydantic(event, decorator) for decorator in cls.node.decorator_list)


def is_wrapper(event: ProgramCall) -> bool:
    """Whether a tensor subclass tells torch what it is made of: then Dynamo traces how it is built."""
    assert isinstance(event.function, ClassValue)
    cls = event.function.cls
    return all(event.ask.method(cls, name) is not None for name in ("__tensor_flatten__", "__tensor_unflatten__"))


def is_partial_dict(event: ProgramCall) -> bool:
    """Whether a `TypedDict` is built of which a key may be left out."""
    if not isinstance(event.function, ClassValue):
        return False
    cls = event.function.cls
    if not event.ask.external_base(cls).endswith(".TypedDict"):
        return False
    partial = any(k.arg == "total" and ast.unparse(k.value) == "False" for k in cls.node.keywords)
    keys = [each.annotation for each in cls.node.body if isinstance(each, ast.AnnAssign)]
    words = [ast.unparse(key.value).rpartition(".")[2] if isinstance(key, ast.Subscript) else "" for key in keys]
    return any(word != "Required" if partial else word == "NotRequired" for word in words)


def _pydantic(event: ProgramCall, decorator: ast.expr) -> bool:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    if not isinstance(node, ast.Name):
        return False
    value = event.ask.module_value(node.id, event.function.cls.module)
    return isinstance(value, External) and value.name.startswith("pydantic.")
