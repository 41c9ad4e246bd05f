"""The heap: what the attributes of the program's objects hold at this moment of a walk through eager code.

Values are immutable; objects are not. An object that eager code makes has an identity, and what is stored in it is kept
here, so that whoever has the object sees it. Compiled code does not look here: it sees objects as constructors leave them.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final

from tclint.interpreter import execute, parameters
from tclint.interpreter.frame import Frame
from tclint.values import UNKNOWN, FunctionValue, Instance, Value, join

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter
    from tclint.program import Class, Function

Place = tuple[int | str, str]
"""An attribute of an object, by its identity; or a name of a file, by its path."""
_NO_TOP_LEVEL: Final[Place] = ("", "")
"""Read by a call where the walk began in a function: names of the file are then what the file says."""
State = Mapping[tuple[int, str], Value]
"""What attributes hold, by the identity of their object and their name."""
RERUNS: Final = 80
"""Calls of one walk that are interpreted again because an object has changed since."""
RUNS_OF_A_TRIAL: Final = 500
"""Calls of one walk through a test, a benchmark or an example that are interpreted: it says little that is new after so many."""
_OBJECTS: Final = 200
"""Objects of one walk that are told apart."""
_APART: Final = 1 << 32
"""From here on the objects are numbered that no walk has made: those that the sites told of are others."""


class Heap:
    """Keeps the objects of the walk that is under way."""

    def __init__(self, interp: Interpreter) -> None:
        self._interp = interp
        # Who asks what is found out apart gets objects that were made there.
        apart = interp.apart
        self._made: dict[int, tuple[Instance, Sequence[Value], Mapping[str, Value]]]
        self._made = apart.made if apart is not None else {}
        self._built: set[int] = set()
        self._first: dict[tuple[int, str], Value] = {}
        """What constructors gave objects."""
        self._state: dict[tuple[int, str], Value] = {}
        """What was stored in them since."""
        self._building: set[Class] = set()
        self._current = 0
        """The object that is being built."""
        self._given: set[int] = set()
        """The objects that were given something while another one was built."""
        self._latest = 0
        self._objects = 0
        self._draws: dict[ast.AST, int] = {}
        self.version = 0
        """Tells states apart: two moments of one version are alike."""
        self._reads: list[tuple[Place, Value | None]] = []
        self.reruns = RERUNS
        self.runs: float = math.inf
        """Calls that are still interpreted before the rest of the walk is taken for unknown."""

    @property
    def building(self) -> bool:
        """Whether it is found out what the constructor of an object gives it."""
        return bool(self._building)

    @property
    def is_used(self) -> bool:
        """Whether something was stored in objects that were there, or drawn. What a file's top level binds for itself is no use."""
        return bool(self._state or self._given or self._draws)

    def begin(self, trial: bool = False) -> None:
        """Another walk: nothing has happened yet. `trial`: through code that only tries the program."""
        self.allow(trial)
        self._state, self._first, self._built, self.version = {}, {}, set(), 0
        self.reruns, self._objects, self._draws = RERUNS, 0, {}
        self._reads.clear()

    def allow(self, trial: bool) -> None:
        """Another entry, and how many calls of it are interpreted."""
        self.runs = RUNS_OF_A_TRIAL if trial else math.inf

    # -- objects ------------------------------------------------------------------------------------------------

    def allocate(self, instance: Instance, args: Sequence[Value], keywords: Mapping[str, Value]) -> Instance:
        """An object of its own. What its constructor gives it is found out when somebody asks."""
        if self._objects >= _OBJECTS:
            return instance
        self._objects += 1
        identity = len(self._made) + (1 if self._interp.apart is None else _APART)
        made = instance.identified(identity)
        self._made[identity] = (made, args, keywords)
        return made

    def build_by_running(self, instance: Value) -> None:
        """The walk runs the constructor of an object where it stands: what that gives is not found out apart."""
        self._built.add(instance.identity)

    def read(self, instance: Value, name: str) -> Value | None:
        """What an attribute of an object holds now; None where it is not known here."""
        self._build(instance.identity)
        value = self._held((instance.identity, name))
        self._reads.append(((instance.identity, name), value))
        return value if value is not UNKNOWN else None

    def untouched(self, instance: Value, name: str) -> bool:
        """Whether an object was made in this walk and nothing was stored in an attribute of it since, on any way here."""
        return instance.identity in self._built and self._held((instance.identity, name)) is None

    def write(self, instance: Value, name: str, value: Value) -> None:
        """An attribute of an object is bound anew."""
        self._build(instance.identity)
        if self._building:
            self._first[(instance.identity, name)] = value
            if instance.identity != self._current:
                self._given.add(instance.identity)
        else:
            self._state[(instance.identity, name)] = value
            self.change()

    def as_held(self, instance: Instance, names: AbstractSet[str]) -> Instance:
        """An object with what some of its attributes hold at this moment."""
        self._build(instance.identity)
        told = {name: held for name in sorted(names) if (held := self._held((instance.identity, name))) is not None}
        return instance.with_held(told)

    def rename(self, renamed: Callable[[Value], Value]) -> bool:
        """What objects hold has changed in place: whether any of them holds it."""
        found = False
        for place, held in [*self._first.items(), *self._state.items()]:
            if not held.depth or self._held(place) is not held:
                continue  # no container, or one that is there no more
            new = renamed(held)
            if new is not held:
                self._state[place] = new
                found = True
        return found

    def _held(self, place: tuple[int, str]) -> Value | None:
        value = self._state.get(place)
        return value if value is not None else self._first.get(place)

    def change(self) -> None:
        """Something that functions may read is another one now."""
        self._latest += 1
        self.version = self._latest

    # -- what calls depend on -----------------------------------------------------------------------------------

    def read_global(self, path: str, name: str, value: Value) -> None:
        """A function reads a name of its file as it is at this moment of the walk."""
        self._reads.append(((path, name), value))

    def mark(self) -> tuple[int, int]:
        """This moment, to ask later what was read and changed since."""
        return len(self._reads), self._latest

    def changed_since(self, mark: tuple[int, int]) -> bool:
        return self._latest != mark[1]

    def reads_since(self, mark: tuple[int, int], frame: Frame | None) -> dict[Place, Value | None]:
        """What was read since a moment, in which nothing was changed; where nothing was, that the walk has no top level."""
        reads = dict(self._reads[mark[0] :])
        return reads or ({_NO_TOP_LEVEL: None} if frame is None or frame.root.function is not None else {})

    def holds(self, frame: Frame | None, reads: Mapping[Place, Value | None]) -> bool:
        """Whether everything that a call read is as it was. What it read is read again."""
        names = frame.root if frame is not None and frame.root.function is None else None
        if _NO_TOP_LEVEL in reads:
            return names is None
        for (owner, name), value in reads.items():
            if isinstance(owner, int):
                now = self._held((owner, name))
            else:
                now = names.env.get(name) if names is not None and names.module.path == owner else None
            if now is not value and (now is None or value is None or not _alike(now, value)):
                return False
        self._reads.extend(reads.items())
        return True

    def made(self, identity: int) -> tuple[Instance, Sequence[Value], Mapping[str, Value]] | None:
        """How an object was made."""
        return self._made.get(identity)

    def is_changed(self, identity: int) -> bool:
        """Whether something was stored in an object since it was made, or by others."""
        return identity in self._given or any(owner == identity for owner, _ in self._state)

    def made_with(self, value: Value) -> Mapping[str, Value]:
        """What an object was made with, by the parameters of its constructor."""
        if value.identity not in self._made:
            return {}
        instance, args, keywords = self._made[value.identity]
        init = self._interp.classes.find_method(instance.cls, "__init__")
        if init is None:
            return {}
        return {**dict(zip(parameters.signature(init).names[1:], args, strict=False)), **keywords}

    def draws(self, node: ast.AST) -> int:
        """How often something was drawn at a place before."""
        drawn = self._draws.get(node, 0)
        self._draws[node] = drawn + 1
        self.change()
        return drawn

    def _build(self, identity: int) -> None:
        if identity in self._built or identity not in self._made:
            return
        self._built.add(identity)
        instance, args, keywords = self._made[identity]
        interp = self._interp
        init = interp.classes.find_method(instance.cls, "__init__")
        if init is None or instance.fields is not None or instance.cls in self._building:
            return  # a constructor that asks an object of its own class while it runs
        held = interp.apart.held(interp, instance, (args, keywords)) if interp.apart is not None else None
        if held is None:
            self._build_here(instance, init, args, keywords)
            return
        for name, value in held.items():
            if isinstance(value, FunctionValue) and value.bound is not None and value.bound.key == instance.key:
                value = value.bound_to(instance)  # a method of its own
            self._first[(identity, name)] = value

    def built(self, instance: Instance) -> dict[str, Value] | None:
        """What its constructor gives an object, found out here; None where it gives others something, too."""
        identity = instance.identity
        self._built.add(identity)
        made, args, keywords = self._made[identity]
        init = self._interp.classes.find_method(made.cls, "__init__")
        assert init is not None
        self._build_here(made, init, args, keywords)
        if self._given or self._state:
            return None
        return {name: value for (owner, name), value in self._first.items() if owner == identity}

    def _build_here(
        self, instance: Instance, init: Function, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> None:
        interp = self._interp
        outer, self._current = self._current, instance.identity
        self._building.add(instance.cls)
        with interp.emitter.silence, interp.results.guarded(init), interp.recordings.apart():
            env = parameters.bind(interp, init, [instance, *args], keywords, False)
            frame = Frame(interp, init.module, init, env, None)
            frame.constructing = True
            execute.run_block(frame, init.node.body)  # type: ignore[arg-type]
        self._building.discard(instance.cls)
        self._current = outer

    # -- ways that part and meet --------------------------------------------------------------------------------

    def state(self) -> tuple[State, int]:
        """The state, to come back to."""
        return dict(self._state), self.version

    def restore(self, state: tuple[State, int]) -> None:
        """Go back to a state."""
        held, self.version = state
        self._state = dict(held)

    def meet(self, states: Iterable[tuple[State, int]]) -> None:
        """Go on from here or from one of several other states: nobody knows which."""
        for held, version in states:
            if version == self.version:
                continue
            for place in sorted(held.keys() | self._state.keys()):
                first = self._first.get(place, UNKNOWN)
                mine, other = self._state.get(place, first), held.get(place, first)
                if mine is not other:
                    self._state[place] = join(mine, other)
            self.change()


def _alike(a: Value, b: Value) -> bool:
    return a.identity == b.identity and bool(a.key == b.key)
