"""How arguments vary from call to call, and what Dynamo's automatic dynamic shapes make of it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tclint.events.kinds import Event
from tclint.model.finding import Confidence
from tclint.values import (
    ENUM,
    UNBACKED,
    ClassValue,
    Const,
    Dict,
    External,
    FunctionValue,
    Instance,
    Object,
    Scalar,
    Seq,
    Tensor,
    Value,
)

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


def guarded(value: Value | None) -> Hashable:
    """What of an argument Dynamo compares before it runs a program again.

    Numbers and sizes are no part of it: they become dynamic. Nor is what is not known.
    """
    if isinstance(value, Const):
        return (value.key,) if value.value is None or isinstance(value.value, (str, bool)) else "number"
    if isinstance(value, Tensor):
        rank = value.ndim if not isinstance(value.shape, tuple) else len(value.shape)
        return "tensor", value.dtype if value.dtype in ("b", "i", "c") else "", rank
    if isinstance(value, (External, ClassValue, FunctionValue)):
        return (value.key,)
    if isinstance(value, Object) and value.name == ENUM:
        return (value.key,)
    if isinstance(value, Instance) and value.fields is not None:
        return value.cls.qualname, tuple((name, guarded(held)) for name, held in sorted(value.fields.items()))
    if isinstance(value, Seq) and value.items is not None:
        return value.kind, tuple(guarded(item) for item in value.items)
    if isinstance(value, Dict):
        return "dict", tuple((name, guarded(held)) for name, held in value.items.items())
    return "?"


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
