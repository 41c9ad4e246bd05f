"""What an interpreter remembers, in parts that live for different times.

A fresh interpreter of the same program shares `TextKnowledge`, starts with a copy of `SiteKnowledge`, and has the other
parts new: what another one concluded must not decide what it finds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from tclint.program import Class, Function, FunctionPlace, Module, Touched

if TYPE_CHECKING:
    from tclint.events import Break
    from tclint.interpreter.frame import Frame
    from tclint.interpreter.overwrites import Effect
    from tclint.interpreter.recorded import Deed
    from tclint.values import CompileSite, External, Value
    from tclint.values.moments import Moment, StatePlace

Arguments = tuple[tuple["Value", ...], dict[str, "Value"]]
"""What a call passes: by position, by keyword."""
AttributeName = tuple[str, str, str]
"""An attribute of the objects of a class: file, qualified name of the class, name."""


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Told(Generic[_T]):
    """What somebody found out that others need not find out again, with what he read for it: so they read it, too."""

    value: _T
    read: tuple[Touched, ...]


@dataclass(slots=True)
class TextKnowledge:
    """What the text and the options say: pure, and so shared by all interpreters of a program."""

    sets_attributes: dict[Function, bool] = field(default_factory=dict)
    """Whether a function sets attributes or returns something."""
    self_calls: dict[Function, frozenset[str]] = field(default_factory=dict)
    """The methods that a method calls on its receiver."""
    direct_stars: dict[Module, tuple[Module, ...]] = field(default_factory=dict)
    """The modules of which a module imports everything."""
    stars: dict[Module, tuple[Module, ...]] = field(default_factory=dict)
    """The same with those to which they lead, in the order in which a name is looked up."""
    compile_names: dict[str, bool] = field(default_factory=dict)
    """Whether a dotted name is that of a function that compiles."""
    names: dict[tuple[Module, str], Told[Value | None]] = field(default_factory=dict)
    """What names of files stand for that no statement computes: definitions, modules and what lies outside."""
    bases: dict[Class, Told[list[Value]]] = field(default_factory=dict)
    """What a class inherits from, where such names alone say it."""
    mro: dict[Class, Told[list[Class]]] = field(default_factory=dict)
    """The order in which its attributes are then looked up."""
    methods: dict[tuple[Class, str], Told[Function | None]] = field(default_factory=dict)
    """The methods that classes of such an order have by these names."""
    outside: dict[Class, Told[str]] = field(default_factory=dict)
    """The names of their first bases outside the program."""
    externals: dict[str, External] = field(default_factory=dict)
    """What lies outside, by the dotted names under which it is reached."""


@dataclass(slots=True)
class ProgramKnowledge:
    """What was read from the program. It stays for as long as the interpreter.

    It is not shared: an interpreter must itself ask the files that its results depend on (`Program.touched`).
    """

    frames: dict[str, Frame] = field(default_factory=dict)
    """The frame of each file's top level."""
    installed: dict[str, Value | None] = field(default_factory=dict)
    mro: dict[Class, list[Class]] = field(default_factory=dict)
    bases: dict[Class, list[Value]] = field(default_factory=dict)
    external_base: dict[Class, str] = field(default_factory=dict)
    field_names: dict[Class, list[str]] = field(default_factory=dict)
    registers_hooks: dict[Class, bool] = field(default_factory=dict)
    """Whether a constructor of the class may register hooks of modules."""


@dataclass(slots=True)
class SiteKnowledge:
    """What eager code and compile sites told: how things are built, called, compiled and changed."""

    sites: dict[tuple[Any, ...], CompileSite] = field(default_factory=dict)
    targets: list[tuple[Value, CompileSite]] = field(default_factory=list)
    """What is compiled, and where."""
    compiled_instances: dict[Any, CompileSite] = field(default_factory=dict)
    """Objects compiled in place (`model.compile()`), by their keys."""
    calls_seen: dict[Any, dict[Any, list[Arguments]]] = field(default_factory=dict)
    """How compiled callables are called, by what runs and by the cache of its programs that the call goes through."""
    walks: dict[Any, list[Moment]] = field(default_factory=dict)
    """What happened, moment by moment, by the entry from which it was walked."""
    made_with: dict[tuple[str, str, str], dict[tuple[str, str], dict[Any, str]]] = field(default_factory=dict)
    """What constructors were given: by file, class and parameter, and by the function that makes the objects, the values
    and where they are passed."""
    counted: set[StatePlace] = field(default_factory=set)
    """What eager code counts up, or makes longer."""
    set_globals: dict[tuple[str, str], Value] = field(default_factory=dict)
    """What functions bind to module-level names (`global model`), by file and name."""
    callees: dict[Any, Value] = field(default_factory=dict)
    """The callables of `calls_seen`."""
    closures: dict[Function, Mapping[str, Value] | None] = field(default_factory=dict)
    """The environments of nested functions that are compiled."""
    constructions: dict[Any, tuple[Sequence[Value], Mapping[str, Value]]] = field(default_factory=dict)
    """How instances were built, by their keys."""
    construction_count: dict[Any, int] = field(default_factory=dict)
    """How many ways of building the objects of a class are known, and how many settings of the switches of one of them."""
    late: dict[tuple[str, str], dict[str, Value]] = field(default_factory=dict)
    """Compiled callables that are stored in attributes after the constructor, by file and class."""
    late_within: dict[tuple[str, str, str], Class | None] = field(default_factory=dict)
    """By file, class and attribute, the class of the objects that hold those whose attribute was bound so
    (`self.encoder.forward = …`); None where it was bound in other ways, too."""
    frozen: set[tuple[object, ...]] = field(default_factory=set)
    """Modules whose parameters were told to need no gradients."""
    rebound: set[AttributeName] = field(default_factory=set)
    """Attributes that eager code binds anew after the constructor."""

    def copy(self) -> SiteKnowledge:
        """The same knowledge, for an interpreter that will add to it."""
        return SiteKnowledge(
            sites=dict(self.sites),
            targets=list(self.targets),
            compiled_instances=dict(self.compiled_instances),
            calls_seen={
                key: {how: list(calls) for how, calls in seen.items()} for key, seen in self.calls_seen.items()
            },
            walks={key: list(walk) for key, walk in self.walks.items()},
            made_with={key: dict(made) for key, made in self.made_with.items()},
            counted=set(self.counted),
            set_globals=dict(self.set_globals),
            callees=dict(self.callees),
            closures=dict(self.closures),
            constructions=dict(self.constructions),
            construction_count=dict(self.construction_count),
            late={key: dict(values) for key, values in self.late.items()},
            late_within=dict(self.late_within),
            frozen=set(self.frozen),
            rebound=set(self.rebound),
        )


@dataclass(frozen=True, slots=True)
class Remembered:
    """A call that read what objects hold: it gives the same for as long as they hold it."""

    key: Any
    """Under which its result is kept."""
    objects: tuple[int, ...]
    """The objects that it was given."""
    reads: Mapping[tuple[int | str, str], Value | None]
    """What it read, by object or file, and name."""


@dataclass(slots=True)
class Memo:
    """What was concluded, and what is being concluded right now."""

    results: dict[Any, Value] = field(default_factory=dict)
    """What a function gave, by function and arguments."""
    contexts: dict[Any, int] = field(default_factory=dict)
    """With how many different arguments a function was interpreted."""
    moments: dict[Any, tuple[Moment, ...]] = field(default_factory=dict)
    """What a function did to compiled callables and to what they read, by function and arguments."""
    stateful: dict[Any, list[Remembered]] = field(default_factory=dict)
    """The calls that read or change what objects hold, and those of which a result is remembered."""
    deeds: dict[Any, tuple[Deed, ...]] = field(default_factory=dict)
    """What a call that is remembered did to graphs captured by hand, and to what they read."""
    effects: dict[Any, tuple[Effect, ...]] = field(default_factory=dict)
    """What a function did to the memory of CUDA graphs, by function and arguments."""
    breaks: dict[Any, Break] = field(default_factory=dict)
    """Where the graph breaks in a function, by function and arguments."""
    under_conditions: set[Any] = field(default_factory=set)
    """The calls in compiled code that were met only where some test comes out in one way."""
    attributes: dict[Any, dict[str, Value]] = field(default_factory=dict)
    """What constructors gave instances, by their keys."""
    later: dict[tuple[Any, str], Value | None] = field(default_factory=dict)
    """What other methods give an attribute that the constructor leaves out, by the instance's key and the name."""
    shared_setup: dict[Any, Value] = field(default_factory=dict)
    """What inherited constructors gave that several classes share."""
    class_values: dict[tuple[str, str], Value] = field(default_factory=dict)
    function_values: dict[Function, Value] = field(default_factory=dict)
    run_while_tracing: dict[Function, bool] = field(default_factory=dict)
    defaults: dict[tuple[Function, str], Value] = field(default_factory=dict)
    """What parameters get that calls leave out."""
    globals: dict[Module, dict[str, object]] = field(default_factory=dict)
    """What names of files stand for, as far as somebody asked."""
    running: set[Any] = field(default_factory=set)
    """The calls that are being interpreted. What leads back to one of them is unknown."""
    evaluating: set[Any] = field(default_factory=set)
    """The names, bases and defaults that are being evaluated. What leads back to one of them is unknown."""

    def forget(self) -> None:
        """Forget what was concluded, so that a second pass sees what the first one learned."""
        parts = (self.results, self.contexts, self.moments, self.effects, self.deeds, self.attributes, self.stateful)
        for part in parts:
            part.clear()
        self.breaks.clear()
        self.under_conditions.clear()
        self.later.clear()
        self.shared_setup.clear()
        self.class_values.clear()
        self.function_values.clear()
        self.run_while_tracing.clear()
        self.defaults.clear()
        self.globals.clear()


TOP_LEVEL: Final = "<module>"
"""The name of the code of a file that stands in no function."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Something of the program that could not be interpreted."""

    path: str
    line: int
    name: str
    """The function, or what else it was."""
    error: BaseException


SitePlace = tuple[str, int]
Unfollowed = dict[FunctionPlace, tuple[str, ...]]
Handing = dict[SitePlace, tuple[str, ...]]


@dataclass(slots=True)
class Results:
    """What an interpreter found out for others to read."""

    reached: set[FunctionPlace] = field(default_factory=set)
    """The functions that were interpreted as compiled."""
    blind: set[FunctionPlace] = field(default_factory=set)
    """Those of them that were only called with arguments nobody knows."""
    reach: dict[tuple[str, int], set[FunctionPlace]] = field(default_factory=dict)
    """The functions that each compile site (file, line) compiles."""
    whole: set[FunctionPlace] = field(default_factory=set)
    """The functions that a site with `fullgraph=True` compiles: they run without a break, or not at all."""
    owners: set[Class] = field(default_factory=set)
    """The classes of what was interpreted as compiled."""
    unresolved: dict[tuple[str, int], str] = field(default_factory=dict)
    """The compile sites of which nobody knows what they compile, and why."""
    unread: dict[tuple[str, int], str] = field(default_factory=dict)
    """The compile sites whose module calls one that it was handed and that nobody knows, by its name."""
    unfollowed: dict[FunctionPlace, dict[str, None]] = field(default_factory=dict)
    """By the functions that call it, what is called there and may be any module, by its names."""
    handed: dict[tuple[str, int], dict[str, bool]] = field(default_factory=dict)
    """By the site of a function that compiles what it is handed, who calls it, and whether nothing is known of all that he hands over."""
    calls_compiled: bool = False
    """Something was seen that only the eager caller of compiled code does, where code was taken as compiled."""
    failures: list[Failure] = field(default_factory=list)

    within: dict[Any, set[FunctionPlace]] = field(default_factory=dict)
    """The functions that a call led to, by the key of what it gave: another site may get there by the same call."""
    open: list[set[FunctionPlace]] = field(default_factory=list)
    """The same for the calls that are being interpreted, the innermost last."""

    def unknown(self) -> tuple[dict[SitePlace, str], dict[SitePlace, str], Unfollowed, Handing]:
        """What nobody knows: what sites compile, what their modules were handed, what compiled code calls, and who hands over what."""
        called = {place: tuple(names) for place, names in self.unfollowed.items()}
        told = {place: tuple(name for name, lost in by.items() if lost) for place, by in self.handed.items()}
        handing = {place: names for place, names in told.items() if names}
        return dict(self.unresolved), dict(self.unread), called, handing

    def reach_function(self, site: CompileSite | None, function: Function, told: bool = True) -> None:
        """A function is interpreted as compiled, by a site or as if there were one; `told`: with arguments that are known."""
        place = function.place
        if told:
            self.blind.discard(place)
        elif place not in self.reached:
            self.blind.add(place)
        self.reached.add(place)
        if function.cls is not None:
            self.owners.add(function.cls)
        if site is not None:
            self._reach(site, {place})

    @property
    def known(self) -> set[FunctionPlace]:
        """The functions that need not be entered by their signatures: calls told what they are given."""
        return self.reached - self.blind

    def knows(self, place: FunctionPlace) -> bool:
        return place in self.reached and place not in self.blind

    def begin(self) -> None:
        """A call of compiled code begins."""
        self.open.append(set())

    def end(self, key: Any) -> None:
        """The call that began last has given what is kept under `key`."""
        self.within[key] = done = self.open.pop()
        if self.open:
            self.open[-1] |= done

    def again(self, site: CompileSite | None, key: Any) -> None:
        """A call gave what is kept under `key`, so it was not interpreted: it leads where it led before."""
        if site is not None and (places := self.within.get(key)):
            self._reach(site, places)

    def _reach(self, site: CompileSite, places: set[FunctionPlace]) -> None:
        self.reach.setdefault((site.path, site.line), set()).update(places)
        if site.fullgraph is True:
            self.whole |= places
        if self.open:
            self.open[-1] |= places

    @contextmanager
    def guarded(self, what: Function | Class | Module) -> Iterator[None]:
        """Around the interpretation of something: what fails there ends there."""
        try:
            yield
        except Exception as error:
            self.failed(what, error)

    def failed(self, what: Function | Class | Module, error: Exception) -> None:
        """One thing that we cannot handle costs one diagnostic, not the run."""
        if os.environ.get("TCLINT_DEBUG") and not isinstance(error, RecursionError):
            raise error
        if isinstance(what, Module):
            self.failures.append(Failure(what.path, 1, TOP_LEVEL, error))
        else:
            line = what.line if isinstance(what, Function) else what.node.lineno
            self.failures.append(Failure(what.module.path, line, what.qualname, error))
