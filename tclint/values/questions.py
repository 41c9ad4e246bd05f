"""Operations of values as functions, for rules and programs that import them by name."""

from __future__ import annotations

from tclint.values.tensor import Tensor
from tclint.values.value import Value


def truth(value: Value) -> bool | None:
    """True or False where the truth of the value is certain, else None."""
    return value.truth()


def may_be_none(value: Value) -> bool:
    return value.may_be_none()


def without_none(value: Value) -> Value:
    """The value once `is None` is known to be false."""
    return value.without_none()


def contains(value: Value, flag: int, depth: int = 3) -> Tensor | None:
    """The first tensor with the flag inside a value, containers looked into."""
    return value.contains(flag, depth)


def widen(value: Value) -> Value:
    """A coarser value, for a function that has been called in too many different ways."""
    return value.widen()
