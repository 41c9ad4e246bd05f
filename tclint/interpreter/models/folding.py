"""Pure functions of Python on values that eager code knows: what they give is known too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tclint.values import Const, Dict, Seq, Value

_SMALL: Final = 4096
"""Texts and lists that are longer are not computed with."""
_GREAT: Final = 1 << 64
"""Nor are integers beyond this."""
_PLAIN: Final = (int, float, str, bool, type(None))


class NotKnown(Exception):
    """A value is not known, or what comes out of it is not worth knowing."""


def fold(function: Callable[..., Any], args: Sequence[Value], keywords: Mapping[str, Value] = {}) -> Value | None:
    """What a pure function gives for values that are all known, None where they are not, or where it raises."""
    try:
        given = [plain(value) for value in args]
        named = {name: plain(value) for name, value in keywords.items()}
        return lift(function(*given, **named))
    except (NotKnown, ArithmeticError, ValueError, TypeError, LookupError, AttributeError):
        return None


def plain(value: Value) -> Any:
    """A known value as Python has it."""
    if isinstance(value, Const):
        held = value.value
        if type(held) not in _PLAIN or (isinstance(held, str) and len(held) > _SMALL):
            raise NotKnown
        if isinstance(held, int) and abs(held) > _GREAT:
            raise NotKnown
        return held
    if isinstance(value, Seq) and value.items is not None and value.kind != "slice" and len(value.items) <= _SMALL:
        items = [plain(item) for item in value.items]
        return tuple(items) if value.kind in ("tuple", "size") else items
    if isinstance(value, Dict) and value.elem is None:
        return dict.fromkeys(value.items)  # of which builtins read the keys
    raise NotKnown


def lift(result: Any) -> Value:
    """What Python gave as a value."""
    if type(result) in _PLAIN:
        if isinstance(result, str) and len(result) > _SMALL or isinstance(result, int) and abs(result) > _GREAT:
            raise NotKnown
        return Const(result)
    if isinstance(result, (list, tuple)) and len(result) <= _SMALL:
        kind = "list" if isinstance(result, list) else "tuple"
        return Seq(kind, tuple(lift(item) for item in result))
    raise NotKnown
