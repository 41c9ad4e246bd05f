"""The frame of one call: its names, and how it came to be compiled."""

from __future__ import annotations

import ast
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tclint.model.finding import Step
from tclint.sources.once import Once, once
from tclint.sources.tree import yields
from tclint.values import FALSE, RAW, TRUE, Const, Origin, Region, Scalar, Tensor, Value, join
from tclint.values.provided import NOTHING, Provided, Proviso

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tclint.events import Break
    from tclint.interpreter.called_apart import Run
    from tclint.interpreter.machine import Interpreter
    from tclint.model.finding import Condition
    from tclint.program import Class, Function, Module
    from tclint.values.moments import Mode

Env = dict[str, Value]
# Set in environments that only an unusual run reaches. The dot makes it end where the branch ends.
RARE: Final = ".rare"
# Set in the environments of functions that only the first call reaches: what makes later ones skip them.
ONCE: Final = ".once"
# Set where a test says whether what runs is in training: the parts of a module are in the mode of the whole.
TRAINS: Final = ".trains"
# Set behind tests of which nobody in sight says what they come to: what holds there.
PROVIDED: Final = ".provided"
# Set behind tests, between a name and what they say of it: binding the name drops it, and what two ways know stays.
KNOWN: Final = ".?"
_NOT_RESUMED: Final = frozenset({"for", "while", "try"})
_new = tuple.__new__
TURNS: Final = (160, 160, 160, 80)
"""The turns of loops that are walked for one entry into the program: in the function that is entered, in those that it calls,
and so on. What the loops of a loader or an optimizer cost is not taken from the loop that trains."""


class Frame:
    """One function being interpreted. `env` maps names, and paths such as `self.cache`, to values."""

    __slots__ = (
        "_root",
        "blocks",
        "breaks",
        "broken",
        "budget",
        "call_node",
        "capturing",
        "closure",
        "cls",
        "comprehensions",
        "constructing",
        "continues",
        "dead",
        "depth",
        "env",
        "function",
        "globals",
        "grad",
        "held",
        "inexact",
        "interp",
        "maybe",
        "modal",
        "modes",
        "module",
        "nonlocals",
        "on_yield",
        "parent",
        "paths",
        "region",
        "returns",
        "uncertain",
        "walked",
        "yields",
    )

    def __init__(
        self,
        interp: Interpreter,
        module: Module,
        function: Function | None,
        env: Env,
        region: Region | None,
        parent: Frame | None = None,
        call_node: ast.AST | None = None,
        closure: Mapping[str, Value] | None = None,
        cls: Class | None = None,
    ) -> None:
        self.interp = interp
        self.module = module
        interp.program.touched.add(module.asked[""])
        self.function = function
        self.env = env
        self.region = region
        self.parent = parent
        self._root: Frame | None = parent.root if parent is not None else None
        self.call_node = call_node
        self.closure = closure
        self.cls = cls if cls is not None else (function.cls if function is not None else None)
        self.depth: int = parent.depth + 1 if parent is not None else 0
        self.returns: list[Value] = []
        self.yields: list[Value] = []
        self.on_yield: Callable[[Value], None] | None = None  # runs what a context manager stands around
        self.inexact = False  # a yield may not happen, or not only once
        self.walked = 0  # how many of the loops in `blocks` are walked turn by turn
        self.budget: list[int] = parent.budget if parent is not None else list(TURNS)
        self.dead = False
        self.blocks: list[str] = []
        self.breaks: list[list[Env]] = []
        self.continues: list[list[Env]] = []
        self.paths: set[str] = set()  # the names of which `env` holds paths
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        # False under no_grad, True where nothing around turns gradients off, None where the caller is not in sight.
        self.grad: bool | None = parent.grad if parent is not None else (None if self.cls is not None else True)
        if parent is None and region is not None and not region.gradients:
            self.grad = False
        self.modes: tuple[Mode, ...] = parent.modes if parent is not None else ()
        self.broken: Break | None = None  # the first graph break in it, as its caller sees it
        self.comprehensions: list[Run] = []  # of compiled code: Dynamo may look at them by themselves
        self.constructing = False
        self.capturing: bool = parent is not None and parent.capturing  # in a CUDA-graph capture by hand
        self.held = 0  # contexts of the program around this place: Dynamo resumes in none of them
        self.maybe = 0  # branches of this function that may not be taken, around this place or left before it
        self.modal = 0  # those of them that training takes
        # Whether the callers come here only under conditions.
        self.uncertain: bool = parent is not None and (
            parent.uncertain or PROVIDED in parent.env and parent.conditional
        )

    @property
    def runs_once(self) -> bool:
        """Whether this place is reached exactly once whenever the function is: in no loop but those walked turn by turn."""
        once = self.blocks.count("with") + self.blocks.count("try")
        return not self.maybe and len(self.blocks) - once == self.walked

    @property
    def is_certain(self) -> bool:
        """Whether this place is reached, once, whenever what was entered first is: no branch, loop or `try` is on the way."""
        frame: Frame | None = self
        while frame is not None:
            if frame.maybe or frame.blocks.count("with") != len(frame.blocks):
                return False
            frame = frame.parent
        return True

    def handed_on(self) -> None:
        """Behind a break that every run gets to what is alive comes in anew: of a single number Dynamo then knows the value, as of
        any input. On this way, at least, a number that the graph kept until then is Python's again."""
        if self.region is None:
            return
        sure, kept = not self.maybe, self.region.keeps_numbers
        for name, value in self.env.items() if sure or kept else ():
            if sure and type(value) is Tensor and value.ndim == 0 and not value.flags & RAW:
                self.env[name] = value.with_(flags=value.flags | RAW)
            elif kept and type(value) is Scalar and value.source == "data":
                self.env[name] = Scalar(value.type, "read", value.origin)

    @property
    def walks(self) -> bool:
        """Whether loops here are walked turn by turn: in eager code, and where one object is being built."""
        return self.region is None and (not self.constructing or self.interp.heap.building)

    @property
    def doubtful(self) -> bool:
        """Whether a capture by hand may never get here: on the way from it is a branch that may not be taken."""
        frame = self
        while frame.parent is not None and frame.parent.capturing:
            if frame.maybe:
                return True
            frame = frame.parent
        return False

    @property
    def yielding(self) -> bool:
        """Whether the function is a generator."""
        return self.function is not None and self.function.node_index(yields)

    @property
    def provided(self) -> Provided:
        """What must hold for this function to come to this place."""
        held = self.env.get(PROVIDED)
        return held if type(held) is Provided else NOTHING

    @property
    def conditional(self) -> bool:
        """Whether compiled code comes here only if something holds of which nobody in sight says whether it does."""
        return self.becomes_graph and (self.uncertain or bool(self.provided.provisos))

    @property
    def becomes_graph(self) -> bool:
        """Whether a compile site compiles what runs here, or it is captured by hand: what is only assumed to be compiled is told
        under that one condition."""
        return self.region.site is not None if self.region is not None else self.capturing

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What must hold for the region to come to this place, and for its site to compile anything."""
        found: list[Condition] = []
        frame: Frame | None = self
        while frame is not None and frame.becomes_graph:
            found[:0] = [each.told() for each in frame.provided.provisos]
            frame = frame.parent
        site = self.region.site if self.region is not None else None
        return tuple(dict.fromkeys((*site.conditions, *found) if site is not None else found))

    @property
    def rare(self) -> bool:
        """Whether only an unusual run gets here."""
        return RARE in self.env

    @property
    def jumps(self) -> int:
        """How many ways out of the loop at hand, or on to its next turn, were met so far."""
        return sum(len(each[-1]) for each in (self.breaks, self.continues) if each)

    @contextmanager
    def rarely(self) -> Iterator[None]:
        """What happens meanwhile happens in an unusual run only."""
        before = self.rare
        self.env[RARE] = TRUE
        try:
            yield
        finally:
            if not before:
                self.env.pop(RARE, None)

    @contextmanager
    def provided_that(self, proviso: Proviso) -> Iterator[None]:
        """What happens meanwhile happens only if that holds."""
        before = self.provided
        self.env[PROVIDED] = before.with_(proviso)
        try:
            yield
        finally:
            self.env[PROVIDED] = before

    def skipped(self, node: ast.AST) -> Once | None:
        """What makes the calls after the first one skip a node of compiled code, here or in a caller.

        They are compiled anew where the test stands in the compiled function itself, which is guarded on it. A function that
        is called was cut out of its caller's graph by then, and one that was left to eager mode is not looked at again.
        """
        if self.region is None or self.function is None:
            return None
        held = self.env.get(ONCE)
        outer = held.value if isinstance(held, Const) and isinstance(held.value, Once) else None
        if outer is not None and outer.anew:
            return outer
        found = next((each for each in self.function.index(_once) if each.around(node)), None)
        if found is None:
            return outer
        resumed = not self.held and not _NOT_RESUMED.intersection(self.blocks)
        return replace(found, anew=resumed and self._is_entered)

    @property
    def _is_entered(self) -> bool:
        """Whether compiled code is entered here: also through a frame that stands for the call from outside."""
        parent = self.parent
        return parent is None or parent.function is None or self.call_node in (parent.function.node, parent.call_node)

    def stands_outside(self, call: ast.AST) -> bool:
        """Whether this stands for the eager code that makes this call: what is called is compiled, the caller is not."""
        return self.parent is None and call in (self.call_node, self.function and self.function.node)

    @property
    def root(self) -> Frame:
        """Where the walk began."""
        return self._root or self

    @property
    def top_level(self) -> Env:
        """What the names of this file hold at this moment, where the walk began there."""
        root = self._root
        return root.env if root is not None and root.function is None and root.module is self.module else {}

    def origin(self, node: ast.AST) -> Origin:
        # As `Origin(…)`, which goes through a function of its own; made a million times in a large run.
        return _new(Origin, (getattr(node, "lineno", 0), node, self.module.path))

    def chain(self, line: int) -> tuple[Step, ...]:
        """Why this line is compiled: from the compile site inwards."""
        steps: list[Step] = []
        frame: Frame | None = self
        at = line
        while frame is not None and self._shares(frame.region):
            name = frame.function.qualname if frame.function is not None else "<module>"
            steps.append(Step(frame.module.path, at, name))
            at = getattr(frame.call_node, "lineno", 0)
            frame = frame.parent
        site = self.region.site if self.region is not None else None
        if site is not None:
            steps.append(Step(site.path, site.line, site.text))
        steps.reverse()
        return tuple(steps)

    def _shares(self, region: Region | None) -> bool:
        if region is None or self.region is None:
            return region is self.region
        return region.site is self.region.site

    def set(self, name: str, value: Value) -> None:
        self.env[name] = value
        if name in self.paths:
            prefix = name + "."
            stale = [k for k in self.env if k.startswith(prefix)]
            for k in stale:
                del self.env[k]

    def set_path(self, path: str, value: Value) -> None:
        self.env[path] = value
        self.paths.add(path.partition(".")[0])


def told_of_mode(region: Region) -> Env:
    """What an environment has in which a region begins."""
    return {} if region.training is None else {TRAINS: TRUE if region.training else FALSE}


def join_env(a: Env | None, b: Env | None) -> Env | None:
    """Names that only one side knows keep that side's value: reading them on the other path would be an error."""
    if a is None:
        return b
    if b is None or a is b:
        return a
    result = dict(a)
    if a == b:
        return result
    known = b.get
    # Most names are bound to the same value on both sides.
    for name in [name for name, value in a.items() if known(name) is not value]:
        other = known(name)
        if other is not None:
            result[name] = join(a[name], other)
        elif "." in name:
            del result[name]  # a refined path (`self.cache`) known on one side only is not known after the join
    if not b.keys() <= a.keys():
        for name, value in b.items():
            if name not in a and "." not in name:
                result[name] = value
    return result


def _once(function: Function) -> tuple[Once, ...]:
    """What later calls of a function skip, seen through the methods of its class that it calls."""
    methods = function.cls.methods if function.cls is not None else {}
    return once(function.node, lambda name: methods[name].node if name in methods else None)


def settled(before: Env, after: Env) -> bool:
    """Whether a loop's body left what it started from as it was.

    Names that the body binds first do not count: the next iteration binds them again before it reads them.
    """
    for name, value in before.items():
        now = after.get(name)
        if now is None or (now is not value and now.key != value.key):
            return False
    return True
