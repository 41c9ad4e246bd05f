"""What is known of the calls of one compiled callable: how its arguments vary, and what changes between the calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

from tclint.timeline import expected, guarded, policy
from tclint.timeline.expected import SETTLES
from tclint.torch_facts.modes import NO_GRAD
from tclint.values import in_force
from tclint.values.instance import Instance
from tclint.values.moments import GROWS, Call, Mode, StatePlace, Walk, Write, some, spot
from tclint.values.tensor import Tensor
from tclint.values.value import Value

_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Variation:
    """How often something makes Dynamo compile, and the evidence of it, as a message tells it."""

    programs: int
    said: str
    how: Literal["passed", "written", "made"] = "passed"
    """The calls differ in it, something writes it between them, or the objects were made with different ones."""
    expected: int = SETTLES

    @property
    def hazard(self) -> bool:
        return self.programs > self.expected


@dataclass(frozen=True, slots=True)
class Costs:
    """The programs of some calls, and the facts that made them: `x.dtype`, `x.size(0)`, `type(mask)`."""

    programs: int
    because: tuple[str, ...]

    @property
    def hazard(self) -> bool:
        return self.programs > SETTLES

    def blames(self, name: str) -> tuple[str, ...]:
        """What of one argument is to blame."""
        return tuple(each for each in self.because if re.search(rf"(^|\(){re.escape(name)}($|[.\[)])", each))


_NOTHING: Final = Variation(0, "")


class Evidence:
    """The calls of a compiled callable in one walk through the program, by parameter; and that walk.

    Of several walks it is the one that costs most: each is a process of its own.
    """

    def __init__(
        self,
        callee: Hashable,
        walk: Walk,
        rows: Sequence[Mapping[str, Value]],
        dynamic: object = None,
        settings: Collection[str] = (),
    ) -> None:
        self._callee = callee
        self._walk = walk
        self._policy = policy.Policy.of(dynamic, settings)
        self.rows = rows
        names = dict.fromkeys(name for row in rows for name in row)
        self.values: dict[str, tuple[Value, ...]] = {n: tuple(row[n] for row in rows if n in row) for n in names}
        self._changes: dict[Hashable, Variation] = {}
        self._arguments: dict[Hashable, Variation] = {}
        self._costs: dict[Hashable, Costs] = {}

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """The calls, in order."""
        return tuple(m for m in self._walk if isinstance(m, Call) and m.callee == self._callee)

    def is_first(self, path: str, node: ast.AST) -> bool:
        """Whether a call is the first one in its file: where what is said of all of them is said."""
        return self._firsts.get(path) == _position(node)

    @cached_property
    def _firsts(self) -> dict[str, tuple[int, int]]:
        return {call.path: _position(call.node) for call in reversed(self.calls)}

    @cached_property
    def weight(self) -> tuple[int, int]:
        """How much the calls differ, and how many there are: what one walk says more than another."""
        told = [{name: _told(value.guarded(), "argument", True) for name, value in row.items()} for row in self.rows]
        return len(policy.programs(told, self._policy)), len(self.calls)

    # -- arguments ----------------------------------------------------------------------------------------------

    def argument(self, name: str, burned: bool = False) -> Variation:
        """What one argument costs; `burned` where an operation writes its value into the program."""
        if (name, burned) not in self._arguments:
            self._arguments[name, burned] = self._argument(name, burned)
        return self._arguments[name, burned]

    def _argument(self, name: str, burned: bool) -> Variation:
        values = self.values.get(name, ())
        told = [_told(value.guarded(), "argument", burned) for value in values]
        count = len(policy.programs([{name: each} for each in told], self._policy))
        return Variation(count, self._passed(name, told))

    def together(self, names: Iterable[str], dynamic: bool | None | str = "as compiled") -> Costs:
        """What several arguments cost together, and which of their facts are to blame."""
        key = ("together", names := tuple(names), dynamic)
        return self._costs.get(key) or self._costs.setdefault(key, self._together(names, dynamic))

    def _together(self, names: Collection[str], dynamic: bool | None | str) -> Costs:
        told = [
            {name: _told(row[name].guarded(), "argument", False) for name in names if name in row} for row in self.rows
        ]
        rules = self._policy if isinstance(dynamic, str) else replace(self._policy, dynamic=dynamic)
        made = policy.programs(told, rules)
        return Costs(len(made), tuple(dict.fromkeys(place for program in made for place in program.because)))

    def shown(self, name: str, aspect: str = "") -> str:
        """The values of an argument, as a message tells them; of tensors perhaps one `aspect` of them."""
        told = [value.guarded() for value in self.values.get(name, ())]
        if not aspect:
            return self._passed(name, told)
        rows = [guarded.Exact(None, guarded.aspect_text(each, aspect)) for each in told]
        return self._passed(name, rows)

    def column(self, name: str) -> list[guarded.Guarded]:
        """One argument as the guards see it, call by call."""
        return [_told(row[name].guarded(), "argument", False) if name in row else guarded.UNKNOWN for row in self.rows]

    def decided(self, facts: Mapping[str, Sequence[guarded.Guarded]]) -> int:
        """What the calls cost where these facts of them are guarded."""
        moments = [{name: column[call] for name, column in facts.items()} for call in range(len(self.rows))]
        return len(policy.programs(moments, self._policy))

    def everything(self, names: Collection[str]) -> Costs:
        """What some arguments cost together with the modes in force at the calls."""
        key = ("everything", names := tuple(names))
        if key not in self._costs:
            self._costs[key] = self._everything(names)
        return self._costs[key]

    def _everything(self, names: Collection[str]) -> Costs:
        modes = [in_force.exact(moment) for moment in self._modes[1]]
        if len(modes) != len(self.rows):
            return Costs(0, ())
        told = [
            {**{name: _told(row[name].guarded(), "argument", False) for name in names if name in row}, **mode}
            for row, mode in zip(self.rows, modes, strict=True)
        ]
        made = policy.programs(told, self._policy)
        return Costs(len(made), tuple(dict.fromkeys(place for program in made for place in program.because)))

    def fed_back(self, name: str) -> bool:
        """Whether the later calls get for an argument what the earlier ones gave."""
        values, lines = (
            self.values.get(name, ())[1:],
            {(call.path, getattr(call.node, "lineno", 0)) for call in self.calls},
        )
        return bool(values) and all(isinstance(v, Tensor) and (v.origin.path, v.origin.line) in lines for v in values)

    def distinct(self, name: str) -> int:
        """How many different values a parameter takes. What is not known differs from nothing."""
        return self.argument(name, burned=True).programs

    def held(self, cls: object, attribute: str) -> Variation:
        """What an attribute costs that is burnt in, where it differs between the objects of a class that are arguments."""
        best = _NOTHING
        for name, values in self.values.items():
            if len(values) != len(self.rows) or not all(isinstance(v, Instance) and v.cls is cls for v in values):
                continue
            fields = [(v.fields or {}).get(attribute) for v in values if isinstance(v, Instance)]
            told = [_told(field.guarded(), "argument", True) for field in fields if field is not None]
            place = f"{name}.{attribute}"
            count = len(policy.programs([{place: each} for each in told], self._policy))
            if len(told) == len(values) and count > best.programs:
                best = Variation(count, self._passed(place, told))
        return best

    def lengths(self, name: str) -> int:
        """How many different lengths, keys or orders of keys a container argument takes."""
        found: set[Hashable] = set()
        for turn, value in enumerate(self.values.get(name, ())):
            told = value.guarded()
            if isinstance(told, guarded.Varies):
                found.add((told.why, turn))
            elif isinstance(told, guarded.Items):
                found.add(len(told.items))
            elif isinstance(told, guarded.Table) and not told.some:
                found.add(tuple(key for key, _ in told.items))
        return len(found)

    def resized(self, name: str) -> bool:
        """Whether a container argument takes so many lengths that they alone cost programs."""
        several = self.lengths(name)
        return several > SETTLES or (several > 1 and self.argument(name).hazard)

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

    def sized(self, name: str, dim: int) -> str:
        """The sizes that one dimension of an argument takes, as a message tells it."""
        sizes = self.sizes(name, dim)
        if not sizes or not self.calls:
            return ""
        return f"called at {self._where} with size {dim} of {name} = {some(map(str, sizes))}"

    @cached_property
    def places(self) -> str:
        """Where it is called: `called at train.py:40`."""
        return f"called at {self._where}" if self.calls else ""

    def captured(self, name: str, burned: bool = False) -> Variation:
        """What a captured variable costs that is another one in every closure, or at every call."""
        told = [_told(call.cells[name].guarded(), "cell", burned) for call in self.calls if name in call.cells]
        if len(told) != len(self.calls):
            return _NOTHING
        return Variation(len(policy.programs([{name: each} for each in told], self._policy)), self._passed(name, told))

    def made(self) -> Iterator[tuple[str, Variation]]:
        """The numbers that the objects are made with whose code this is, and in how many values."""
        for name in self.calls[0].made if self.calls else ():
            given = [call.made.get(name) for call in self.calls]
            told = [value.guarded() for value in given if value is not None]
            numbers = [each.value for each in told if isinstance(each, guarded.Number) and type(each.value) is int]
            if len(numbers) == len(self.calls):
                yield name, Variation(len(set(numbers)), self._passed(name, told))

    # -- state --------------------------------------------------------------------------------------------------

    def change(
        self, place: StatePlace, first: Value | None = None, burned: bool = False, settles: bool = False
    ) -> Variation:
        """What a piece of state costs that is written between calls. What is written before the first is set-up.

        `burned` where an operation writes it into the program; `settles` where a number there becomes dynamic, as it does
        in objects that are no modules.
        """
        if place not in self._written:
            return _NOTHING
        key = (place, first.key if first is not None else None, burned, settles)
        if key not in self._changes:
            self._changes[key] = self._change(place, first, burned, settles)
        return self._changes[key]

    def states(self, place: StatePlace, first: Value | None, settles: bool) -> list[guarded.Guarded]:
        """What a piece of state is at each of the calls, as the guards see it."""
        kind: guarded.ReadFrom = "argument" if settles else "global" if place[0] == "mode" else place[0]
        return [_told(state, kind, False) for state in self._at_calls(place, first)[0]]

    def _at_calls(self, place: StatePlace, first: Value | None) -> tuple[list[guarded.Guarded], list[Write]]:
        """What a piece of state is at each of the calls, and the writes that made it so."""
        start = first.guarded() if first is not None else guarded.UNKNOWN
        static = isinstance(start, guarded.Tensor) and start.static
        current, states, writes = start, [], list[Write]()
        for moment in self._walk:
            if isinstance(moment, Call):
                if moment.callee == self._callee:
                    states.append(current)
            elif moment.place == place:
                writes.append(moment)
                current = _nth(moment, len(writes)) if moment.again else moment.value.guarded()
                if static and isinstance(current, guarded.Tensor):
                    current = replace(current, static=True)
        if writes and writes[0].again:
            # Before something is counted or grows it has another value than after.
            states = [_nth(writes[0], 0) if state is start else state for state in states]
        return states, writes

    def _change(self, place: StatePlace, first: Value | None, burned: bool, settles: bool) -> Variation:
        kind: guarded.ReadFrom = "argument" if settles else "global" if place[0] == "mode" else place[0]
        states, writes = self._at_calls(place, first)
        frozen = burned or any(write.again == GROWS for write in writes)
        count = len(policy.programs([{place[3]: _told(state, kind, frozen)} for state in states], self._policy))
        shown = [{place[3]: w.value.guarded()} for w in writes if not w.again]
        again = next((write.again for write in writes if write.again), "")
        how = _listed(shown, place[3])
        if again:
            how += f", then {again}" if how else f": {again}"
        where = some(spot(write) for write in writes)
        return Variation(count, f"written at {where} between the calls at {self._where}{how}", "written")

    @cached_property
    def _written(self) -> dict[StatePlace, list[Write]]:
        found: dict[StatePlace, list[Write]] = {}
        for moment in self._walk:
            if isinstance(moment, Write):
                found.setdefault(moment.place, []).append(moment)
        return found

    def writes(self, kind: str) -> Iterator[StatePlace]:
        """What is written of one kind."""
        yield from (place for place in self._written if place[0] == kind)

    @cached_property
    def resets(self) -> list[Write]:
        """The calls that throw programs away which are then asked for again. Where something is compiled in between, a
        measurement starts afresh."""
        found: list[Write] = []
        since: list[Write] = []
        for moment in self._walk:
            if isinstance(moment, Call):
                if moment.callee == self._callee:
                    found.extend(since)
                    since.clear()
            elif moment.place[3] == "reset" and moment.place[0] == "mode":
                since.append(moment)
            elif moment.again == "compiled":
                since.clear()
        return found

    # -- modes --------------------------------------------------------------------------------------------------

    @cached_property
    def mode(self) -> Variation:
        """What the modes in force at the calls cost: gradients, autocast, default dtype, the flags of modules."""
        made, moments = self._modes
        many = expected.of_modes([in_force.exact(each) for each in moments], self._policy, NO_GRAD)
        return Variation(len(made), f"called at {self._where}{in_force.listed(moments)}", expected=many)

    @cached_property
    def mode_changes(self) -> tuple[Mode | Write | Call, ...]:
        """What puts these modes in force, where they differ: contexts, calls that set them, and the call itself where one
        context gets several arguments."""
        because = (place for program in self._modes[0] for place in program.because)
        return in_force.changes(self._walk, self._callee, because)

    @cached_property
    def _modes(self) -> tuple[tuple[policy.Program, ...], list[guarded.Moment]]:
        moments = in_force.at_calls(self._walk, self._callee)
        return policy.programs([in_force.exact(each) for each in moments], self._policy), moments

    # -- how it is told -----------------------------------------------------------------------------------------

    @cached_property
    def _where(self) -> str:
        return some(spot(call) for call in self.calls)

    def _passed(self, name: str, told: Sequence[guarded.Guarded]) -> str:
        return f"called at {self._where}{_listed([{name: each} for each in told], name, name)}" if self.calls else ""


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _nth(write: Write, turn: int) -> guarded.Guarded:
    """What is counted or grows, after so many times: any numbers will do that differ and are not special."""
    return guarded.Number(turn + 2.5 if write.value.python_type == "float" else turn + 2)


def _told(value: guarded.Guarded, place: guarded.ReadFrom, burned: bool) -> guarded.Guarded:
    """A value as it is held at a place; `burned` where an operation writes it into the program."""
    if isinstance(value, guarded.Number):
        return guarded.Number(value.value, place, burned)
    if isinstance(value, guarded.Varies):
        return guarded.Varies(value.why, value.type, place, burned or value.burned)
    if isinstance(value, guarded.Items):
        return guarded.Items(value.kind, tuple(_told(item, place, burned) for item in value.items))
    if isinstance(value, guarded.Table):
        told = tuple((key, _told(item, place, burned)) for key, item in value.items)
        return guarded.Table(value.kind, told, value.some)
    return value


def _listed(moments: Sequence[guarded.Moment], place: str, name: str = "") -> str:
    """`with k = 1, 2, 3`, as far as the values can be told."""
    listed = some(text for moment in moments if (text := guarded.text(moment[place])))
    if not listed:
        return ""
    return f" with {name} = {listed}" if name else f": {listed}"
