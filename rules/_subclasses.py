"""Tensors of a class of the program: what it overrides of `torch.Tensor`, and what torch does not give of one at all.

Dynamo runs `__torch_function__` for such a tensor. What the class puts in the place of an attribute of tensors it follows where
that is a function or a property, and where it is asked for by name.
"""

from __future__ import annotations

import ast
from typing import Final

from tclint.events import Attribute, Call, Event, Store
from tclint.program import Class
from tclint.torch_facts import facts, features

_OVERRIDDEN: Final = "attribute of tensors that a subclass overrides"


def of_attribute(event: Attribute) -> str | None:
    """An attribute or a method that is read of such a tensor."""
    cls = event.ask.subclass(event.receiver)
    if cls is None:
        return None
    if (named := f"{event.name} of a tensor subclass") in features.table().features:
        return named
    known = facts.at(facts.NEWEST)
    of_tensors = known.attribute("tensor", event.name) or known.method("tensor", event.name)
    return _OVERRIDDEN if of_tensors and _holds(event, cls, event.name) else None


def of_call(event: Call) -> str | None:
    """A builtin that asks such a tensor for a method."""
    cls = event.ask.subclass(event.args[0]) if event.args and event.name.startswith("builtins.") else None
    return _of_method(event, cls, f"__{event.method}__")


def of_store(event: Store) -> str | None:
    """An element that is written of such a tensor."""
    return _of_method(event, event.ask.subclass(event.receiver), "__setitem__") if event.target == "subscript" else None


def _of_method(event: Event, cls: Class | None, method: str) -> str | None:
    return f"{method} of a tensor subclass" if cls is not None and event.ask.method(cls, method) is not None else None


def _holds(event: Event, cls: Class, name: str) -> bool:
    """Whether the class puts a plain value or a static method in the place of what tensors have."""
    for each in event.ask.mro(cls):
        if name in each.assignments:
            return True
        if (method := each.methods.get(name)) is not None:
            return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in method.decorators)
    return False
