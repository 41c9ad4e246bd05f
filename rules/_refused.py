"""Calls that what is called surely refuses, where Dynamo breaks the graph and does not raise: by their names in the facts."""

from __future__ import annotations

import ast
import collections

from tclint.events import Call
from tclint.torch_facts import accepted, features
from tclint.torch_facts.sizes import ELEMENTWISE
from tclint.values import (
    Const,
    Dict,
    External,
    FunctionValue,
    Method,
    Object,
    Seq,
    Tensor,
    Value,
)


def of_call(event: Call) -> str | None:
    """The feature of the language that a call of this kind is."""
    if event.name in accepted.TAKES:
        return f"{event.name}() of arguments that it does not take" if _is_refused(event) else None
    if event.name == "typing.cast":
        return f"{event.name}() by name" if event.keywords else None
    value = event.args[0] if event.args else None
    if value is None:
        return None
    if event.method == "fromkeys" and event.name == "builtins.dict.fromkeys":
        return "dict.fromkeys() of keys without a hash" if _has_no_hash(value) else None
    if event.name == "super.__delattr__":
        return "super().__delattr__() by what is no text" if isinstance(value, Tensor) else None
    if not event.name.startswith("builtins."):
        return None
    if event.name == "builtins.issubclass" and len(event.args) == 2:
        # An object that is asked is known, and what it answers is an exception like any other.
        unknown = (Tensor, Seq, Dict, FunctionValue)
        listed = isinstance(event.args[1], Seq) and event.args[1].kind == "list"
        return "issubclass() of what is no class" if isinstance(value, unknown) or listed else None
    if event.name == "builtins.isinstance" and isinstance(value, Method) and isinstance(value.receiver, Object):
        return f"isinstance() of {value.name} of an {value.receiver.name.removeprefix('torch.')}"
    if event.name == "builtins.hasattr" and isinstance(value, Dict) and "." in value.kind and len(event.args) == 2:
        return f"hasattr() of a {value.kind}" if _lacks(value.kind, event.args[1]) else None
    if event.name == "builtins.round" and len(event.args) == 1:
        return "round() of a tensor" if isinstance(value, Tensor) else None
    return None


def of_tensor(event: Call) -> str | None:
    """`x.mul(torch.relu)`: an operation on elements that is given a function for one of them."""
    if event.name.startswith("Tensor.") and event.method.removesuffix("_") in ELEMENTWISE:
        given = [*event.args, *event.keywords.values()]
        return "method of a tensor that is given a function" if any(map(_is_function, given)) else None
    asked = f"{event.name} of any tensor"
    return asked if asked in features.table().features else None


def _is_refused(event: Call) -> bool:
    """Whether there are more arguments than it takes, or one under a name that it does not have."""
    node = event.node
    if not isinstance(node, ast.Call) or any(isinstance(each, ast.Starred) for each in node.args):
        return False
    names = accepted.TAKES[event.name]
    by_name = [each.arg for each in node.keywords]
    if None in by_name:
        return False
    return len(node.args) + len(by_name) > len(names) or any(each not in names for each in by_name)


def _lacks(kind: str, name: Value) -> bool:
    """Whether the class of a dict of Python's own has no such attribute."""
    found = getattr(collections, kind.removeprefix("collections."), None)
    return isinstance(name, Const) and isinstance(name.value, str) and not hasattr(found, name.value)


def _has_no_hash(value: Value) -> bool:
    items = value.items if isinstance(value, Seq) else None
    return any(isinstance(each, Dict) or isinstance(each, Seq) and each.kind in ("list", "set") for each in items or ())


def _is_function(value: Value) -> bool:
    """Whether this is surely a function: one of the program, or one of torch by its name."""
    return isinstance(value, FunctionValue) or isinstance(value, External) and accepted.is_function(value.name)
