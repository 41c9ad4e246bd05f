"""What is known of the calls of one compiled callable: how its arguments vary, and what changes between the calls."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from tclint.timeline import guarded, policy
from tclint.values.moments import Call, Place, Walk, Write
from tclint.values.tensor import Tensor
from tclint.values.value import Value

SETTLES: Final = 2
"""Two programs are what anybody expects; the third is a hazard."""
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Variation:
    """How often something makes Dynamo compile, and the evidence of it, as a message tells it."""

    programs: int
    said: str

    @property
    def hazard(self) -> bool:
        return self.programs > SETTLES


class Evidence:
    """The calls of a compiled callable in one walk through the program, by parameter; and that walk.

    Of several walks it is the one that costs most: each is a process of its own.
    """

    def __init__(
        self,
        callee: Hashable,
        walk: Walk,
        rows: Sequence[Mapping[str, Value]],
        dynamic: bool | None = None,
    ) -> None:
        self._callee = callee
        self._walk = walk
        self._policy = policy.Policy(dynamic if dynamic in (True, False) else None)
        self.rows = rows
        names = dict.fromkeys(name for row in rows for name in row)
        self.values: dict[str, tuple[Value, ...]] = {n: tuple(row[n] for row in rows if n in row) for n in names}

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """The calls, in order."""
        return tuple(m for m in self._walk if isinstance(m, Call) and m.callee == self._callee)

    @cached_property
    def weight(self) -> tuple[int, int]:
        """How much the calls differ, and how many there are: what one walk says more than another."""
        told = [{name: _burned(value.guarded()) for name, value in row.items()} for row in self.rows]
        return len(policy.programs(told, self._policy)), len(self.calls)

    # -- arguments ----------------------------------------------------------------------------------------------

    def argument(self, name: str, burned: bool = False) -> Variation:
        """What one argument costs; `burned` where an operation writes its value into the program."""
        values = self.values.get(name, ())
        told = [_burned(value.guarded()) if burned else value.guarded() for value in values]
        count = len(policy.programs([{name: each} for each in told], self._policy))
        return Variation(count, self._passed(name, values, told))

    def distinct(self, name: str) -> int:
        """How many different values a parameter takes. What is not known differs from nothing."""
        return self.argument(name, burned=True).programs

    def lengths(self, name: str) -> int:
        """How many different lengths, keys or orders of keys a container argument takes."""
        found: set[Hashable] = set()
        for value in self.values.get(name, ()):
            told = value.guarded()
            if isinstance(told, guarded.Items):
                found.add(len(told.items))
            elif isinstance(told, guarded.Table):
                found.add(tuple(key for key, _ in told.items))
        return len(found)

    def shapes(self, name: str) -> list[tuple[int | None, ...]]:
        return [v.shape for v in self.values.get(name, ()) if isinstance(v, Tensor) and isinstance(v.shape, tuple)]

    def sizes(self, name: str, dim: int) -> list[int]:
        """The sizes one dimension of an argument takes, call by call."""
        found = []
        for shape in self.shapes(name):
            if -len(shape) <= dim < len(shape):
                size = shape[dim]
                if size is not None:
                    found.append(size)
        return found

    # -- state --------------------------------------------------------------------------------------------------

    def change(self, place: Place, first: Value | None = None) -> Variation:
        """What a piece of state costs that is written between calls. What is written before the first is set-up."""
        current: guarded.Guarded = first.guarded() if first is not None else guarded.UNKNOWN
        moments: list[guarded.Moment] = []
        writes: list[Write] = []
        calls: list[Call] = []
        for moment in self._walk:
            if isinstance(moment, Write):
                if moment.place == place:
                    current = guarded.Varies(moment.again) if moment.again else moment.value.guarded()
                    writes.append(moment)
            elif moment.callee == self._callee:
                moments.append({place[3]: _burned(current, place[0])})
                calls.append(moment)
        if not writes:
            return Variation(0, "")
        count = len(policy.programs(moments, self._policy))
        where = ", ".join(dict.fromkeys(f"{w.path}:{w.line}" for w in writes))
        between = ", ".join(list(dict.fromkeys(f"{c.path}:{c.line}" for c in calls))[:_SHOWN])
        return Variation(count, f"written at {where} between the calls at {between}{_listed(moments, place[3])}")

    def writes(self, kind: str) -> Iterator[Place]:
        """What is written of one kind."""
        yield from dict.fromkeys(m.place for m in self._walk if isinstance(m, Write) and m.place[0] == kind)

    # -- how it is told -----------------------------------------------------------------------------------------

    def _passed(self, name: str, values: Sequence[Value], told: Sequence[guarded.Guarded]) -> str:
        where = ", ".join(list(dict.fromkeys(f"{c.path}:{c.line}" for c in self.calls))[:_SHOWN])
        return f"called at {where}{_listed([{name: each} for each in told], name, name)}" if where else ""


def _burned(value: guarded.Guarded, place: str = "argument") -> guarded.Guarded:
    if isinstance(value, guarded.Number):
        kept = place if place in ("attribute", "global", "cell") else "argument"
        return guarded.Number(value.value, kept, burned=place == "argument")  # type: ignore[arg-type]
    if isinstance(value, guarded.Varies):
        return guarded.Varies(value.why, value.type, burned=True)
    if isinstance(value, guarded.Items):
        return guarded.Items(value.kind, tuple(_burned(item, place) for item in value.items))
    if isinstance(value, guarded.Table):
        return guarded.Table(value.kind, tuple((key, _burned(item, place)) for key, item in value.items))
    return value


def _listed(moments: Sequence[guarded.Moment], place: str, name: str = "") -> str:
    """`with k = 1, 2, 3`, as far as the values can be told."""
    texts = [text for moment in moments if (text := guarded.text(moment[place]))]
    shown = list(dict.fromkeys(texts))
    if not shown:
        return ""
    more = ", …" if len(shown) > _SHOWN else ""
    listed = ", ".join(shown[:_SHOWN]) + more
    return f" with {name} = {listed}" if name else f": {listed}"
