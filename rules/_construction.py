"""Which feature of the language shows where compiled code makes an object of a class of the program."""

from __future__ import annotations

import ast
import builtins
import collections
from collections.abc import Iterator

from tclint.events import Event, ProgramCall
from tclint.program import Function
from tclint.rules._language import metaclass
from tclint.values import ClassValue


def of_construction(event: ProgramCall) -> Iterator[str]:
    """What making an object of a class of the program needs."""
    if not isinstance(event.function, ClassValue):
        return
    cls = event.function.cls
    if event.ask.method(cls, "__new__") is not None:
        yield "__new__"
    if "try" in event.blocks and _is_abstract(event, event.function):
        yield "object of an abstract class"
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


def _is_abstract(event: Event, value: ClassValue) -> bool:
    """Whether a method is left for classes below to write; a class that can be made all the same has no `ABC` above it."""
    mro = event.ask.mro(value.cls)
    if not any(_ends(each, "ABC") for one in mro for each in one.node.bases) and not any(
        _ends(keyword.value, "ABCMeta") for one in mro for keyword in one.node.keywords
    ):
        return False
    methods = (event.ask.method(value.cls, name) for name in {name for one in mro for name in one.methods})
    return any(_ends(each, "abstractmethod") for method in methods if method is not None for each in method.decorators)


def _ends(node: ast.expr, name: str) -> bool:
    return name == (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", ""))


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
