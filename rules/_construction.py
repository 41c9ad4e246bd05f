"""Which feature of the language shows where compiled code makes an object of a class of the program."""

from __future__ import annotations

import ast
import builtins
import collections
from collections.abc import Iterator

from tclint.events import Call, Event, ProgramCall
from tclint.program import Function
from tclint.rules._language import metaclass
from tclint.values import UNKNOWN, ClassValue, External, tensor_of


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


def of_new(event: Call) -> str | None:
    """`object.__new__(cls)`, where Python refuses to make an object of the class."""
    value = event.args[0] if event.args else None
    refused = isinstance(value, ClassValue) and _is_abstract(event, value)
    return "object of an abstract class by object.__new__" if refused else None


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


def is_pydantic(event: ProgramCall) -> bool:
    """Whether a model of pydantic is built."""
    if not isinstance(event.function, ClassValue):
        return False
    cls = event.function.cls
    based = event.ask.external_base(cls).startswith("pydantic.")
    return based or any(_pydantic(event, decorator) for decorator in cls.node.decorator_list)


def is_built_from_sizes(event: ProgramCall) -> bool:
    """Whether a tensor subclass gets what is known and no tensor, and does not tell torch what it is made of: that is traced."""
    given = event.args[0] if event.args else UNKNOWN
    known = tensor_of(given) is None and all(option is not UNKNOWN for option in given.options)
    return known and not is_wrapper(event)


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
