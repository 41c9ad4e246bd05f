"""What of a call Dynamo holds against the next one: plain data, from which the number of programs follows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

ReadFrom = Literal["argument", "attribute", "global", "cell"]
"""Where a number is read from. Arguments and cells become dynamic; attributes of modules and globals do not."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody knows. It differs from nothing: unknown is not varies."""


@dataclass(frozen=True, slots=True)
class Exact:
    """A thing that must be the same: a type, a flag, a string, None, a dtype, a function, a mode."""

    key: Hashable
    text: str = field(default="", compare=False)
    """As a message shows it."""


@dataclass(frozen=True, slots=True)
class Number:
    """A Python int or float. `burned`: an operation writes its value into the program."""

    value: int | float
    place: ReadFrom = "argument"
    burned: bool = False


@dataclass(frozen=True, slots=True)
class Varies:
    """A Python number that is another one in every call, and nobody knows which; a `bool` is one of two each time.

    `why` is what a message says of it.
    """

    why: str
    type: str = "int"
    place: ReadFrom = "argument"
    burned: bool = False


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor as the guards see it. A size that nobody knows is None."""

    sizes: tuple[int | None, ...] | None
    dtype: str = ""
    requires_grad: bool | None = None
    static: bool = False
    """Parameters and buffers: their sizes never become dynamic."""
    strides: tuple[int, ...] | None = None
    """None where they follow from the sizes: a contiguous tensor. `()` where nobody knows them."""
    marked: frozenset[int] = frozenset()
    """Dimensions that `mark_dynamic` named."""
    maybe: frozenset[int] = frozenset()
    """Dimensions that `maybe_mark_dynamic` named."""
    unbacked: frozenset[int] = frozenset()
    """Dimensions that `mark_unbacked` named: no special case for sizes 0 and 1."""
    fixed: frozenset[int] = frozenset()
    """Dimensions that `mark_static` named."""
    varied: frozenset[int] = frozenset()
    """Dimensions whose size is another one in every call, and nobody knows which: it is drawn, or depends on data."""


@dataclass(frozen=True, slots=True)
class Items:
    """A list, tuple or other sequence: its type and length are guarded, and each item. A `layer` is its class and what it
    was made with."""

    kind: str
    items: tuple[Guarded, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A dict or an object with attributes: its type, keys and their order are guarded, and each value."""

    kind: str
    items: tuple[tuple[Hashable, Guarded], ...]
    some: bool = False
    """Whether it has more than these, the same ones in every call."""


Guarded = Unknown | Exact | Number | Varies | Tensor | Items | Table
Moment = Mapping[str, Guarded]
"""One call: what is guarded, by where it is read from."""

UNKNOWN = Unknown()
_SHOWN: Final = 4
"""Items of a sequence that a message shows."""


def text(guarded: Guarded) -> str:
    """A value as a message shows it, nothing where it cannot be told in a word."""
    if isinstance(guarded, Number):
        return f"{guarded.value!r}"
    if isinstance(guarded, Exact):
        return guarded.text
    if isinstance(guarded, Varies):
        return guarded.why
    if isinstance(guarded, Tensor) and guarded.sizes is not None:
        return "×".join("?" if size is None else str(size) for size in guarded.sizes) or "a scalar"
    if isinstance(guarded, Items):
        told = [text(item) for item in guarded.items]
        if guarded.kind == "layer":  # its class, and what it was made with
            given = ", ".join(each or "…" for each in told[1:])
            return "{}({})".format(told[0].strip("'").removeprefix("torch."), given)
        if 0 < len(told) <= _SHOWN and all(told) and not any(isinstance(item, Tensor) for item in guarded.items):
            return f"({', '.join(told)})"
        return f"{len(told)} item{'s' if len(told) != 1 else ''}"
    if isinstance(guarded, Table):
        return "{" + ", ".join(str(key) for key, _ in guarded.items) + "}"
    return ""


def aspect_text(guarded: Guarded, aspect: str) -> str:
    """One thing about a tensor, as a message shows it: its `dtype`, `dim()`, `stride()`, `requires_grad` or `type`."""
    if not isinstance(guarded, Tensor):
        return text(guarded)
    if aspect == "dtype":
        return guarded.dtype
    if aspect == "requires_grad":
        return "one that requires a gradient" if guarded.requires_grad else "one that requires none"
    if aspect == "type":
        return "a parameter" if guarded.static else "a plain tensor"
    if aspect == "stride()" and guarded.sizes is not None:
        strides = guarded.strides
        return "contiguous" if strides is None else f"strides {'×'.join(map(str, strides))}" if strides else ""
    return text(guarded)
