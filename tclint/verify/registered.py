"""Inputs that a user registers in Python: `@tclint.example(Model)` above a function that makes a model and its calls.

    @tclint.example(Model)
    def model_and_calls():
        return Model(width=8), [(torch.randn(2, 8),), (torch.randn(3, 8),)]

The function returns the callable and one or more calls. A call is a tuple of arguments, a dict of keyword arguments,
or a pair of both. Registering costs nothing: the function runs only in the process that verifies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Factory = Callable[[], Any]
F = TypeVar("F", bound=Factory)

_registered: dict[str, Factory] = {}


def key_of(target: Any) -> str:
    """`module:Class`, the name under which a target is registered."""
    if isinstance(target, str):
        return target
    return f"{getattr(target, '__module__', '')}:{getattr(target, '__qualname__', '')}"


def example(target: Any) -> Callable[[F], F]:
    """Register the decorated function as the maker of `target` (a class, a function, or its "module:name")."""

    def register(factory: F) -> F:
        _registered[key_of(target)] = factory
        return factory

    return register


def registered(target: Any) -> Factory | None:
    return _registered.get(key_of(target))
