"""The account: what eager code does to compiled callables, and to what they read, in the order in which it does it."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tclint.interpreter.readings import read_by
from tclint.interpreter.training_flag import looks_at_mode
from tclint.sources.roles import is_test
from tclint.values import (
    UNKNOWN,
    Compiled,
    CompileSite,
    Const,
    Evidence,
    FunctionValue,
    Instance,
    Scalar,
    Value,
)
from tclint.values.compiled import code_of
from tclint.values.moments import COUNTED_UP, GROWS, MAX_MOMENTS, Call, Moment, StatePlace, Walk, Write
from tclint.values.object import is_some_module

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.interpreter.machine import Interpreter
    from tclint.program import Class


class Account:
    """Keeps the moments of the walk that is under way, and those of the walks before it."""

    def __init__(self, interp: Interpreter) -> None:
        self._interp = interp
        self._walks = interp.learned.walks
        self._rebound = interp.learned.rebound
        self._counted = interp.learned.counted
        self._replays = interp.memo.moments
        self._current: list[Moment] = []
        self.paused = 0
        """Around how many runs we are of which only the result counts: what they do is part of one call."""
        self.choosing = 0
        """Around how many calls of one of several compiled objects we are: which of them it is, is the same in every turn."""
        self.settled = bool(interp.learned.walks)  # by the interpreter from which this one learned
        """Whether all entries have been walked: what is known of calls does not change any more."""
        self._told_once: set[Hashable] | None = None
        """What one of several objects that may be meant was told, where a call is of one of them."""
        self._trained = False
        """Whether the walk has set the flag of a module for training."""
        self._moded_targets: dict[Hashable, bool] = {}
        self._callers: dict[Hashable, list[tuple[Walk, bool]]] | None = None
        self._evidence: dict[Hashable, Evidence | None] = {}

    def begin(self, entry: Hashable) -> None:
        """Another entry into the program; one that was walked before, with less knowledge, is forgotten."""
        self._current = []
        self._trained = False
        self._moded_targets.clear()
        if not self.settled:
            self._walks[entry] = self._current

    def settle(self) -> None:
        """All entries have been walked: what is walked from here on is known already."""
        self.settled = True
        for entry, walk in self._walks.items():
            if not any(isinstance(moment, Call) for moment in walk):
                self._walks[entry] = []  # it is asked for by what is called in it

    def evidence(self, code: Hashable, dynamic: bool | None, in_test: bool, path: str) -> Evidence | None:
        """What is known of the calls of a callable compiled in a file; arguments by position go by `argument 0`, …"""
        settings = self._interp.options.dynamo.get(path, frozenset())
        key = (code, dynamic, in_test, settings)
        if self.settled and key in self._evidence:
            return self._evidence[key]
        found: list[Evidence] = []
        for walk in self.walks(code, in_test):
            calls = (m for m in walk if isinstance(m, Call) and m.callee == code)
            rows = [{**{f"argument {i}": a for i, a in enumerate(c.args)}, **c.keywords} for c in calls]
            found.append(Evidence(code, walk, rows, dynamic, settings))
        best = max(found, key=lambda each: (each.mode.programs, *each.weight), default=None)
        if self.settled:
            self._evidence[key] = best
        return best

    def evidence_at(self, site: CompileSite, target: Value) -> Evidence | None:
        """The same for what is compiled at a site."""
        while isinstance(target, Compiled):
            target = target.target
        targets = [target]
        if target is UNKNOWN or is_some_module(target):
            # What a constructor or a helper compiles, its callers know: the calls of what they hand over count.
            targets += [given for given, where in self._interp.learned.targets if where is site]
        codes = dict.fromkeys(code_of(each, site) for each in targets)
        found = [self.evidence(code, site.dynamic, site.test, site.path) for code in codes]
        return max((each for each in found if each is not None), key=lambda each: each.weight, default=None)

    def walks(self, callee: Hashable, in_test: bool) -> Sequence[Walk]:
        """The walks in which something is called; those of tests only for what is compiled in a test."""
        callers = self._callers
        if callers is None:
            callers = self._find_callers()
            if self.settled:
                self._callers = callers
        # What a test calls one after the other, no run of the program does.
        return [walk for walk, tests in callers.get(callee, ()) if in_test or not tests]

    def _find_callers(self) -> dict[Hashable, list[tuple[Walk, bool]]]:
        """By what is called, the walks in which it is, and whether those are of tests.

        A function that was entered alone gives way to the run of a file that gets to the same calls: that knows with what.
        """
        callers: dict[Hashable, list[tuple[Walk, bool]]] = {}
        whole: dict[Hashable, set[int]] = {}
        for begun, walk in sorted(self._walks.items(), key=lambda each: not isinstance(each[0], str)):
            tests = is_test(begun if isinstance(begun, str) else str(begun[0]))
            places: dict[Hashable, set[int]] = {}
            for moment in walk:
                if isinstance(moment, Call):
                    places.setdefault(moment.callee, set()).add(id(moment.node))
            for called, where in places.items():
                if isinstance(begun, str) and not tests:
                    whole.setdefault(called, set()).update(where)
                elif where <= whole.get(called, set()):
                    continue
                callers.setdefault(called, []).append((walk, tests))
        return callers

    @property
    def length(self) -> int:
        return len(self._current)

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        code: Hashable,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        target: Value = UNKNOWN,
    ) -> None:
        """Eager code calls a compiled callable."""
        cells: dict[str, Value] = {}
        if isinstance(target, FunctionValue) and target.closure is not None:
            closure = target.closure
            cells = {name: closure[name] for name in sorted(target.function.free_names() & closure.keys())}
        made = {} if self.choosing else self._interp.heap.made_with(target)
        given = tuple(self._as_passed(value, target) for value in args)
        named = {name: self._as_passed(value, target) for name, value in keywords.items()}
        bound = target.bound if isinstance(target, FunctionValue) else None
        of = bound.cls.qualname if isinstance(bound, Instance) and not self.choosing else ""
        moded = self._moded(frame, target)
        self._add(Call(code, frame.module.path, node, given, named, frame.modes, cells, made, moded, of))

    def _moded(self, frame: Frame, target: Value) -> bool:
        """Whether the flag for training matters to what is called: asked where something has set it."""
        if not self._trained:
            return True
        if target.key not in self._moded_targets:
            self._moded_targets[target.key] = looks_at_mode(frame, target)
        return self._moded_targets[target.key]

    def _as_passed(self, value: Value, target: Value) -> Value:
        """An argument as it is at this moment: objects with what they hold, and numbers that were read out of a tensor."""
        if isinstance(value, Scalar) and value.source == "data" and value.type in ("int", "float"):
            return Scalar(value.type, "read", value.origin)
        if isinstance(value, Instance) and value.identity:
            return self._interp.heap.as_held(value, read_by(target, value.cls))
        return value

    def write(self, frame: Frame, node: ast.AST, place: StatePlace, value: Value, again: str = "") -> None:
        """Eager code binds something that compiled code may read. What constructors bind is no change."""
        if frame.region is None and not frame.constructing:
            if again in (COUNTED_UP, GROWS):
                self._counted.add(place)
            if self._told_once is not None:
                told = (id(node), place, value.key)
                if told in self._told_once:
                    return
                self._told_once.add(told)
            self._add(Write(place, frame.module.path, node, value, again))

    @contextmanager
    def one_of_several(self) -> Iterator[None]:
        """A method is called of one of several objects: what all of them are told the same is told once."""
        outer, self._told_once = self._told_once, set()
        yield
        self._told_once = outer

    def compiled(self, frame: Frame, node: ast.AST) -> None:
        """Something is compiled. After a reset that tells a fresh start from programs that are thrown away."""
        if any(isinstance(moment, Write) and moment.again == "reset" for moment in self._current):
            self.write(frame, node, ("mode", "", "", "compile"), UNKNOWN, "compiled")

    def write_name(self, frame: Frame, node: ast.AST, base: str, name: str, value: Value, again: str = "") -> None:
        """The same for a name that is not the function's own: one of its file, or of the function around it.

        `name` is what of it is written: `x`, `x['key']`, `x.attribute`, `x()`.
        """
        if frame.region is not None or frame.constructing:
            return
        function = frame.function
        if (
            function is None
            or base in frame.globals
            or (frame.module.named(base) is not None and not _own(frame, base))
        ):
            self.write(frame, node, ("global", frame.module.path, "", name), value, again)
        elif function.parent is not None and (base in frame.nonlocals or not _own(frame, base)):
            self.write(frame, node, ("cell", frame.module.path, function.parent.qualname, name), value, again)

    def write_attribute(
        self, frame: Frame, node: ast.AST, owner: Instance, name: str, value: Value, again: str = ""
    ) -> None:
        place: StatePlace = ("attribute", owner.cls.module.path, owner.cls.qualname, name)
        if frame.region is None and not frame.constructing:
            self.rebind(owner.cls, name)
        self.write(frame, node, place, value, again)

    def rebind(self, cls: Class, name: str) -> None:
        """Eager code puts something else into an attribute, of the class or of an object."""
        self._rebound.add((cls.module.path, cls.qualname, name))

    def grow_attribute(self, frame: Frame, node: ast.AST, owner: Value, name: str, value: Value) -> None:
        """`self.x.append(…)`"""
        if isinstance(owner, Instance):
            self.write_attribute(frame, node, owner, name, value, GROWS)

    # -- calls that are remembered ------------------------------------------------------------------------------

    def keep(self, key: Hashable, since: int) -> None:
        """Remember what a call did, beside what it gave."""
        if len(self._current) > since:
            self._replays[key] = tuple(self._current[since:])

    def replay(self, key: Hashable) -> None:
        """A call that is remembered does again what it did."""
        for moment in self._replays.get(key, ()):
            self._add(moment)

    def _add(self, moment: Moment) -> None:
        if len(self._current) < MAX_MOMENTS and not self.paused:
            self._current.append(moment)
            self._trained |= isinstance(moment, Write) and moment.place[3] == "training"


def _own(frame: Frame, name: str) -> bool:
    """Whether a name belongs to the function of a frame."""
    function = frame.function
    assert function is not None
    if name in frame.globals or name in frame.nonlocals:
        return False
    arguments = function.node.args
    parameters = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
    return name in function.stored_names() or any(p is not None and p.arg == name for p in parameters)


def key_text(index: Value) -> str:
    """`['key']`, nothing where the key is not known."""
    return f"[{index.value!r}]" if isinstance(index, Const) else ""
