"""How arguments vary from call to call, and what Dynamo's automatic dynamic shapes make of it."""

from __future__ import annotations

from collections.abc import Sequence

from tclint.events import Event
from tclint.finding import Confidence
from tclint.values import UNBACKED, Scalar, Value

SETTLES = 2
"""Two programs for two values are what anybody expects; the third is a hazard."""


def confidence(event: Event, value: Value) -> Confidence | None:
    """How sure it is that a Python argument takes several values: None where the calls seen say that it does not."""
    if not isinstance(value, Scalar):
        return None
    evidence = event.evidence
    if evidence is None or value.ref is None or value.ref[0] not in evidence.values:
        return Confidence.LOW
    return Confidence.HIGH if evidence.distinct(value.ref[0]) > SETTLES else None


def compilations(shapes: Sequence[tuple[int | None, ...]], marks: frozenset[int], dynamic: bool | None) -> int:
    """How many programs a sequence of shapes costs.

    The first call is static; a dimension that was seen to change becomes dynamic at the next compilation; sizes 0 and 1
    always get a program of their own. `dynamic=True` and marks make dimensions dynamic from the start.
    """
    programs: list[tuple[int | None, ...]] = []  # None: any size from 2 on; -1: any size at all
    seen: list[set[int]] = []
    for shape in shapes:
        if any(s is None for s in shape):
            return 0
        sizes = [s for s in shape if s is not None]
        if len(seen) < len(sizes):
            seen.extend(set() for _ in range(len(sizes) - len(seen)))
        if not any(_fits(sizes, program) for program in programs):
            program: list[int | None] = []
            for d, size in enumerate(sizes):
                free = dynamic is True or d in marks or d - len(sizes) in marks
                free = free or (dynamic is not False and bool(seen[d] - {size}))
                if UNBACKED + d in marks or UNBACKED + d - len(sizes) in marks:
                    program.append(-1)
                else:
                    program.append(None if free and size > 1 else size)
            programs.append(tuple(program))
        for d, size in enumerate(sizes):
            seen[d].add(size)
    return len(programs)


def _fits(sizes: Sequence[int], program: tuple[int | None, ...]) -> bool:
    if len(sizes) != len(program):
        return False
    pairs = zip(sizes, program, strict=True)
    return all(wanted == -1 or (size > 1 if wanted is None else size == wanted) for size, wanted in pairs)
