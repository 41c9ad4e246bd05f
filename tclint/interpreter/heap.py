"""The heap: what the attributes of the program's objects hold at this moment of a walk through eager code.

Values are immutable; objects are not. An object that eager code makes has an identity, and what is stored in it is kept
here, so that whoever has the object sees it. Compiled code does not look here: it sees objects as constructors leave them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tclint.interpreter import execute, parameters
from tclint.interpreter.frame import Frame
from tclint.values import UNKNOWN, Instance, Value, join

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter
    from tclint.program import Class

State = Mapping[tuple[int, str], Value]
"""What attributes hold, by the identity of their object and their name."""
RERUNS: Final = 400
"""Calls of one walk that are interpreted again because an object has changed since."""
_OBJECTS: Final = 200
"""Objects of one walk that are told apart."""


class Heap:
    """Keeps the objects of the walk that is under way."""

    def __init__(self, interp: Interpreter) -> None:
        self._interp = interp
        self._made: dict[int, tuple[Instance, Sequence[Value], Mapping[str, Value]]] = {}
        self._built: frozenset[int] = frozenset()
        self._state: dict[tuple[int, str], Value] = {}
        self._building: set[Class] = set()
        self._latest = 0
        self._objects = 0
        self._draws: dict[ast.AST, int] = {}
        self.version = 0
        """Tells states apart: two moments of one version are alike."""
        self.touched = 0
        """How often something here was read or written."""
        self.reruns = RERUNS

    def begin(self) -> None:
        """Another walk: nothing has happened yet."""
        self._state, self._built, self.version = {}, frozenset(), 0
        self.reruns, self._objects, self._draws = RERUNS, 0, {}

    # -- objects ------------------------------------------------------------------------------------------------

    def allocate(self, instance: Instance, args: Sequence[Value], keywords: Mapping[str, Value]) -> Instance:
        """An object of its own. What its constructor gives it is found out when somebody asks."""
        if self._objects >= _OBJECTS:
            return instance
        self._objects += 1
        self.touched += 1
        identity = len(self._made) + 1
        made = instance.identified(identity)
        self._made[identity] = (made, args, keywords)
        return made

    def read(self, instance: Value, name: str) -> Value | None:
        """What an attribute of an object holds now; None where it is not known here."""
        self.touched += 1
        self._build(instance.identity)
        value = self._state.get((instance.identity, name))
        return value if value is not UNKNOWN else None

    def write(self, instance: Value, name: str, value: Value) -> None:
        """An attribute of an object is bound anew."""
        self._build(instance.identity)
        self._state[(instance.identity, name)] = value
        self.change()

    def change(self) -> None:
        """Something that functions may read is another one now."""
        self.touched += 1
        self._latest += 1
        self.version = self._latest

    def fields(self, instance: Instance) -> dict[str, Value]:
        """What was stored in an object since it was made."""
        return {name: value for (owner, name), value in self._state.items() if owner == instance.identity}

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
        self._built |= {identity}
        instance, args, keywords = self._made[identity]
        interp = self._interp
        init = interp.classes.find_method(instance.cls, "__init__")
        if init is None or instance.fields is not None or instance.cls in self._building:
            return  # a constructor that asks an object of its own class while it runs
        self._building.add(instance.cls)
        with interp.emitter.silence, interp.results.guarded(init):
            env = parameters.bind(interp, init, [instance, *args], keywords, False)
            frame = Frame(interp, init.module, init, env, None)
            frame.constructing = True
            execute.run_block(frame, init.node.body)  # type: ignore[arg-type]
        self._building.discard(instance.cls)

    # -- ways that part and meet --------------------------------------------------------------------------------

    def state(self) -> tuple[State, frozenset[int], int]:
        """The state, to come back to."""
        return dict(self._state), self._built, self.version

    def restore(self, state: tuple[State, frozenset[int], int]) -> None:
        """Go back to a state."""
        held, self._built, self.version = state
        self._state = dict(held)

    def meet(self, states: Iterable[tuple[State, frozenset[int], int]]) -> None:
        """Go on from here or from one of several other states: nobody knows which."""
        for held, built, version in states:
            if version == self.version:
                continue
            for place in held.keys() | self._state.keys():
                mine, other = self._state.get(place), held.get(place)
                if mine is not other:
                    # An object that only one of the ways has made, or asked, is as that one has it.
                    known = (place[0] in self._built, place[0] in built)
                    if mine is None or other is None:
                        self._state[place] = (mine or other or UNKNOWN) if not all(known) else UNKNOWN
                    else:
                        self._state[place] = join(mine, other)
            self._built |= built
            self.change()
