"""What eager code does around compiled callables, in the order in which it does it: calls, and writes between them."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from tclint.values.value import Value

Kind = Literal["attribute", "global", "cell", "mode"]
StatePlace = tuple[Kind, str, str, str]
"""Something that a program can guard on: its kind, the file, the class or function it belongs to, and its name there.

Names are `x`, `x['key']`, `x.attribute`, `x()` for how long a list is, and `x{}` for the keys of a dict."""

COUNTED_UP: Final = "counted up"
GROWS: Final = "grows"
"""Why something is another value each time it is written."""
KEPT: Final = "kept"
"""How long a list is of which a test that nobody knows keeps some items."""
COLLATED: Final = "collated"
"""The same, where the list is made anew for every batch."""
_SHOWN: Final = 3
MAX_MOMENTS: Final = 2000
"""Of one walk. What happens after so much only repeats it."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A context around a call: `no_grad`, `autocast` and the like, with its arguments, and where it is entered."""

    name: str
    arguments: Hashable
    path: str
    node: ast.expr
    decorates: bool = False
    """Whether it stands above the function that calls, and not around the call."""


@dataclass(frozen=True, slots=True)
class Call:
    """A compiled callable is called."""

    callee: Hashable
    path: str
    node: ast.AST
    args: Sequence[Value]
    keywords: Mapping[str, Value]
    modes: tuple[Mode, ...] = ()
    cells: Mapping[str, Value] = field(default_factory=dict)
    """The variables of functions around it that the callable has captured, as they are then."""
    made: Mapping[str, Value] = field(default_factory=dict)
    """What the object was made with whose code it is, by the parameters of its constructor."""
    moded: bool = True
    """Whether it may compute something else in training."""
    of: str = ""
    """The class of the object whose method it is; nothing where that is not known."""


@dataclass(frozen=True, slots=True)
class Write:
    """Something that compiled code may read is bound anew."""

    place: StatePlace
    path: str
    node: ast.AST
    value: Value
    again: str = ""
    """Why it is another value each time, whichever: `counted up`, `grows`, `reset`; or that something is `compiled`."""


Moment = Call | Write


def spot(moment: Moment) -> str:
    """`train.py:40`"""
    return f"{moment.path}:{getattr(moment.node, 'lineno', 0)}"


def some(places: Iterable[str]) -> str:
    """The first of them, as a message tells them."""
    found = list(dict.fromkeys(places))
    return ", ".join(found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")


Walk = Sequence[Moment]
"""What happens from one entry into the program on: its top level, or a function that is entered by itself."""
