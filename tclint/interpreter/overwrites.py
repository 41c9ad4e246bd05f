"""The memory of CUDA graphs in the walk: each run overwrites what earlier runs gave, whoever still holds it.

As `torch._inductor.cudagraph_trees` has it: all graphs that Inductor records share one pool. A call of a compiled callable
begins a new generation, which frees what the last one gave. There are two things that hold that back: a backward pass
that is still to come, and step marks. Once a program has called `cudagraph_mark_step_begin()`, only the next mark begins a
generation, and that one waits for no backward pass.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tclint import events
from tclint.interpreter.frame import Env, Frame
from tclint.values import (
    GRAPHED,
    NOWHERE,
    OWNED,
    PENDING,
    PROVEN,
    REPLAYED,
    STALE,
    STATIC_OUT,
    UNKNOWN,
    CompileSite,
    Origin,
    Seq,
    Tensor,
    Value,
    tensor_of,
)
from tclint.values.graph import as_handle, holds_graph


class Effect(NamedTuple):
    """Something that happens to the memory: a `run` (of `of`, where that graph has its own), a `backward` pass, a `mark`,
    a `drop` of gradients (`of`: whether others take their place), a tensor that compiled code leaves in an attribute (`leave`), or an attribute that is bound (`hold`: `of` is its place and what it holds)."""

    kind: str
    of: Any = None


Held = Mapping[tuple[object, str], Value]
_MAX_EFFECTS: Final = 8
_READ: Final = STATIC_OUT | REPLAYED | STALE
"""What a reader finds changed."""


class GraphMemory:
    """What is known of the graphs' memory at this moment of the walk."""

    def __init__(self) -> None:
        self._overwriting: list[object] = []
        """The runs that have overwritten what earlier ones gave, by the graphs that have memory of their own, or None."""
        self.runs = 0
        """How many those are: asked at every expression, so it is counted."""
        self._gradients: Tensor | None = None
        """What the last backward pass of a graph gave: the parameters hold it, and the next run overwrites it too."""
        self.paused = 0
        """Around how many contexts that let compiled callables run eagerly we are."""
        self.expecting = 0
        """In how many of them the program expects an exception: what is compiled there is no part of what works."""
        self.captures: dict[object, Env] = {}
        """By graph, what names held when `capture_begin()` was called."""
        self._held: dict[tuple[object, str], Value] = {}
        self._log: list[Effect] = []
        self._left: list[tuple[tuple[object, str], Value]] = []
        """What the compiled code that runs now has left in attributes: the run gives it, as it gives what is returned."""
        self._replayed: set[object] = set()
        """The graphs captured by hand that were replayed."""
        self._marked = False
        self._begins = False
        self._trained: CompileSite | None = None
        self._filled = False
        """Whether parameters hold gradients that the program made: backward passes add to these in place."""

    def open(self) -> None:
        """Another file: nothing of what its names hold was overwritten yet."""
        self._overwriting.clear()
        self.runs = 0

    def begin(self) -> None:
        """Another entry into the program."""
        self._marked = self._begins = False
        self._held.clear()
        self._trained = self._gradients = None
        self._filled = False

    @property
    def length(self) -> int:
        """How much has happened so far."""
        return len(self._log)

    def since(self, begun: int) -> tuple[Effect, ...]:
        """What has happened since then, each kind of thing once."""
        return tuple(dict.fromkeys(self._log[begun:]))[:_MAX_EFFECTS]

    def repeat(self, frame: Frame | None, effects: Sequence[Effect]) -> None:
        """A call that is remembered does again what it did."""
        for effect in effects:
            if effect.kind == "run":
                self.run(frame, effect.of)
            elif effect.kind == "mark":
                self.mark()
            elif effect.kind == "drop":
                self.drop_gradients(effect.of)
            elif effect.kind == "hold":
                self._hold_again(effect)
            elif effect.kind == "leave":
                self._leave(effect)
            else:
                self.backward(frame)

    def run(self, frame: Frame | None, graph: object = None) -> bool:
        """A graph runs: whether that overwrites what earlier runs gave. `graph` is the one that has its own memory."""
        self._log.append(Effect("run", graph))
        if graph is None and self._marked:
            if not self._begins:
                return False
            self._begins = False
            self._change(frame, PENDING, Value.released)
        if graph is not None:
            self._replayed.add(graph)
        self._change(frame, GRAPHED, lambda value: value.overwritten(graph))
        if self._gradients is not None:
            self._gradients = self._gradients.after_run(graph)
        self._overwriting.append(graph)
        self.runs += 1
        return True

    def hold(self, owner: Value, name: str, value: Value) -> None:
        """An attribute of an object is bound: what a graph gave is followed, whichever method reads it."""
        place = (owner.key, name)
        if value.contains(GRAPHED) is not None:
            self._log.append(Effect("hold", (place, value)))
            self._held[place] = value
        elif self._held.pop(place, None) is not None:
            self._log.append(Effect("hold", (place, None)))

    def leave(self, owner: Value, name: str, value: Tensor) -> None:
        """Compiled code binds an attribute to a tensor that it has computed."""
        self._leave(Effect("leave", ((owner.key, name), value)))

    def _leave(self, effect: Effect) -> None:
        self._log.append(effect)
        self._left.append(effect.of)

    def give(self, begun: int, flags: int, site: CompileSite, origin: Origin) -> None:
        """Compiled code has run, since `begun`: what it has left is the graph's, where `flags` say so."""
        left, self._left = dict(self._left), []
        self._log[begun:] = [effect for effect in self._log[begun:] if effect.kind != "leave"]
        for place, value in left.items() if flags else ():
            self._hold_again(Effect("hold", (place, value.owned(flags, site, origin))))

    def branch(self, held: Held | None = None) -> Held:
        """What objects hold where one arm of a branch ends. The other one begins with `held`."""
        ends = dict(self._held)
        if held is not None:
            self._held = dict(held)
        return ends

    def join(self, held: Held) -> None:
        """Both arms of a branch have ended: objects may hold what either left there."""
        for place, value in held.items():
            self._held.setdefault(place, value)

    def _hold_again(self, effect: Effect) -> None:
        place, value = effect.of
        self._log.append(effect)
        if value is not None:
            self._held[place] = value
        else:
            self._held.pop(place, None)

    def held(self, owner: Value, name: str) -> Value | None:
        """What an attribute holds that was given by a graph."""
        return self._held.get((owner.key, name)) if self._held else None

    def seen_by(self, closure: Mapping[str, Value] | None) -> tuple[object, ...]:
        """What a function finds of the graphs' outputs beside its arguments: what it does may depend on it."""
        if not self._overwriting:
            return ()
        outer = [(n, v.key) for n, v in closure.items() if v.contains(GRAPHED) is not None] if closure else []
        return (*outer, *((place, value.key) for place, value in self._held.items()))

    def overwrites_again(self, begun: int, runs: int) -> bool:
        """Whether what has happened since then, done once more, overwrites what it gave.

        Within a step that is marked only the first run does, unless the mark is part of what is done.
        """
        since = self._overwriting[runs:]
        if not self._marked or any(graph is not None for graph in since):
            return bool(since)
        return bool(since) and Effect("mark") in self._log[begun:]

    def later(self, value: Value, runs: int) -> Value:
        """What is left of a value that was taken after so many runs."""
        for graph in dict.fromkeys(self._overwriting[runs:]):
            value = value.overwritten(graph)
        return value

    def as_held(self, value: Value) -> Value:
        """What an object holds: a static output of a graph is what the last replay wrote, until the next one."""
        if not self._replayed or value.contains(STATIC_OUT) is None:
            return value
        if holds_graph(value):
            return as_handle(value)
        return value.mapped(STATIC_OUT, lambda t: t.with_(flags=t.flags | OWNED) if t.site in self._replayed else t)

    def trains(self, site: CompileSite) -> None:
        """A graph ran whose outputs wait for a backward pass."""
        self._trained = site

    def mark(self) -> None:
        """`torch.compiler.cudagraph_mark_step_begin()`"""
        self._log.append(Effect("mark"))
        self._marked = self._begins = True

    def backward(self, frame: Frame | None, origin: Origin = NOWHERE) -> Tensor | None:
        """A backward pass runs: nothing keeps the outputs of this step any longer.

        What it adds to, where parameters still hold the gradients of an earlier one that a run has overwritten: parameters
        of what was compiled at the same place, for others have gradients of their own.
        """
        self._log.append(Effect("backward"))
        self._change(frame, PENDING, Value.released)
        held, trained = self._gradients, self._trained
        if trained is not None and not self._filled:
            self._gradients = Tensor(PROVEN, "f", -1, OWNED, origin, site=trained)
        self._trained = None
        return held if held is not None and held.flags & STALE and held.site is trained else None

    def _change(self, frame: Frame | None, of: int, change: Callable[[Value], Value]) -> None:
        """Change what objects hold, and the names of a frame, of those around its function and of its callers."""
        for place, value in self._held.items():
            self._held[place] = change(value)
        while frame is not None and frame.region is None:
            for names in (frame.env, frame.closure):
                if isinstance(names, dict):
                    for name, value in names.items():
                        if value.contains(of) is not None:
                            names[name] = change(value)
            frame = frame.parent

    def drop_gradients(self, filled: bool = False) -> None:
        """`zero_grad()`, or, if `filled`, gradients that the program makes itself: parameters hold none of a graph's."""
        self._log.append(Effect("drop", filled))
        self._gradients = None
        self._filled = filled

    @property
    def gradients(self) -> tuple[Tensor | None, bool]:
        """What parameters hold: gradients of a graph, or whether those of the program."""
        return self._gradients, self._filled

    def keep_gradients(self, held: tuple[Tensor | None, bool]) -> None:
        """One arm of a branch that is taken now and then has dropped gradients: in the other turns they are still there."""
        if self._gradients is None:
            self._gradients, self._filled = held

    def gradient(self, origin: Origin) -> Tensor | None:
        """What a parameter holds after the backward pass of a graph."""
        return self._gradients.with_(origin=origin) if self._gradients is not None else None


def read(frame: Frame, node: ast.AST, name: str, value: Value) -> Value:
    """Eager code reads what a name (or `self.name`) holds: told to the rules where a graph has overwritten it."""
    if not frame.interp.graph_memory.runs or value.contains(_READ) is None:
        return value
    if holds_graph(value):
        return as_handle(value)
    stale = value.contains(STALE)
    if stale is not None:
        frame.interp.emitter.emit(events.Reuse, frame, node, name, stale)
    return value.taken()


def operands_read(frame: Frame, operands: Sequence[tuple[ast.AST, Value]], runs: int) -> None:
    """Graphs ran between the evaluation of these operands, after so many `runs`, and their use: `net(a) - net(b)`."""
    for node, value in operands:
        stale = frame.interp.graph_memory.later(value, runs).contains(STALE)
        if stale is not None and value.contains(STALE) is None:
            frame.interp.emitter.emit(events.Reuse, frame, node, _text(node), stale)


def gathered(frame: Frame, node: ast.AST, value: Value) -> None:
    """A generator is unpacked (`a, b = map(net, xs)`, `[*outs]`): all of its values are made before one is read."""
    if frame.region is None and isinstance(value, Seq) and not value.ready:
        if value.contains(OWNED) is not None and value.contains(STALE) is None:
            frame.interp.emitter.emit(
                events.Store, frame, node, "comprehension", UNKNOWN, "", value.element(), None, False, None
            )


def receiver_read(frame: Frame, node: ast.AST, receiver: Value, runs: int) -> None:
    """The same for `net(a).sub(net(b))`. A list is no reader of its elements when it gets one more."""
    tensor = tensor_of(receiver)
    if tensor is not None:
        operands_read(frame, [(node, tensor)], runs)


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())
