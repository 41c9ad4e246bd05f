"""What the methods of a list, a deque or a set do to items that are all known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tclint.values.constant import NONE, Const
from tclint.values.value import Value

Items = tuple[Value, ...]
MOST: Final = 64
"""Items that are told one by one."""


def changed(items: Items, name: str, args: Sequence[Value], more: Items | None) -> tuple[Value, Items] | None:
    """What a method gives and the items after it, None where that is not known.

    `more` are the items of its argument, where that is a sequence that is known.
    """
    if name in ("append", "add") and len(args) == 1:
        held = name == "add" and any(item.key == args[0].key for item in items)
        return NONE, items if held else (*items, args[0])
    if name == "appendleft" and len(args) == 1:
        return NONE, (args[0], *items)
    if name in ("extend", "extendleft") and more is not None:
        return NONE, (*items, *more) if name == "extend" else (*reversed(more), *items)
    if name == "insert" and len(args) == 2:
        place = _place(args[0])
        return (NONE, (*items[:place], args[1], *items[place:])) if place is not None else None
    if name in ("pop", "popleft") and items and len(args) < 2:
        place = 0 if name == "popleft" else _place(args[0]) if args else len(items) - 1
        if place is None or not -len(items) <= place < len(items):
            return None
        place %= len(items)
        return items[place], (*items[:place], *items[place + 1 :])
    if name == "reverse":
        return NONE, items[::-1]
    if name == "clear":
        return NONE, ()
    if name == "rotate":
        by = _place(args[0]) if args else 1
        return (NONE, (*items[-by % len(items) :], *items[: -by % len(items)])) if by is not None and items else None
    return _searched(items, name, args)


def _searched(items: Items, name: str, args: Sequence[Value]) -> tuple[Value, Items] | None:
    """Methods that compare items with each other or with something."""
    if not all(isinstance(value, Const) for value in (*items, *args)):
        return None
    plain = [item.value for item in items if isinstance(item, Const)]
    wanted = args[0].value if len(args) == 1 and isinstance(args[0], Const) else None
    try:
        if name == "sort" and not args:
            order = sorted(range(len(items)), key=plain.__getitem__)
            return NONE, tuple(items[place] for place in order)
        if name == "index" and len(args) == 1:
            return Const(plain.index(wanted)), items
        if name == "count" and len(args) == 1:
            return Const(plain.count(wanted)), items
        if name in ("remove", "discard") and len(args) == 1:
            place = plain.index(wanted)
            return NONE, (*items[:place], *items[place + 1 :])
    except (TypeError, ValueError):
        return (NONE, items) if name == "discard" else None
    return None


def _place(value: Value) -> int | None:
    return value.value if isinstance(value, Const) and type(value.value) is int else None
