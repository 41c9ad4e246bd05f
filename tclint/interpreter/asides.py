"""Whether those who capture and replay a graph see what is done to it elsewhere: what is done behind a branch of some other function,
or to some object of a class, may not be done at all, or to another one.
"""

from __future__ import annotations

from tclint.interpreter.bindings import Place, owner_of
from tclint.interpreter.frame import Frame
from tclint.interpreter.recorded import Deed
from tclint.program import Function
from tclint.values import Instance


def branched(frame: Frame | None) -> tuple[Function | None, ...]:
    """The functions on the way to a place of which a branch leads on that may not be taken."""
    found: list[Function | None] = []
    while frame is not None:
        if frame.maybe:
            found.append(frame.function)
        frame = frame.parent
    return tuple(found)


def is_aside(bound: Deed, *shown: Frame | None) -> bool:
    """Whether a binding stands behind a branch of a function that neither captures nor replays, nor calls who does: who reads
    these does not see that it is taken."""
    seen: set[Function | None] = set()
    for frame in shown:
        while frame is not None:
            seen.add(frame.function)
            frame = frame.parent
    return any(function not in seen for function in bound.branched)


def is_any(place: Place, frame: Frame | None) -> bool:
    """Whether the object that has a place is known by its class alone, and nobody around the capture holds one of these: what
    the capture has read and what is bound may be two of them."""
    owner = place.owner
    if place.kind != "attribute" or not isinstance(owner, tuple) or len(owner) != 3 or owner[2] is not None:
        return False
    while frame is not None:
        if any(isinstance(value, Instance) and owner_of(value) == owner for value in frame.env.values()):
            return False
        frame = frame.parent
    return True
