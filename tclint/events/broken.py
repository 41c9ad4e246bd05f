"""A graph break, as the function it happens in sees it, and everyone who called that function."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tclint.events.kinds import Event
from tclint.sources.tree import yields
from tclint.values import FunctionValue, Value

if TYPE_CHECKING:
    from tclint.events.queries import Frame

_LOOPS: Final = frozenset(("for", "while"))
_NOT_RESUMED: Final = frozenset(("for", "while", "try"))


@dataclass(frozen=True, slots=True)
class Break:
    """Where a graph breaks, and what becomes of the function in which that was last seen."""

    path: str
    line: int
    eager: bool
    """Whether that function runs eagerly as a whole: a break in a block cannot be resumed."""
    sure: bool = False
    """Whether every run gets to the break."""
    hides: bool = False
    """Whether every run of that function is eager because of a break in what it calls: nothing else breaks in it."""
    leaves: bool = False
    """Whether every run of that function is eager from here on."""
    trained: bool = False
    """Whether every run in training gets to the break."""
    leaves_trained: bool = False
    """Whether every run of that function in training is eager from here on."""
    early: bool = False
    """Whether that function is a generator that gets here before it gives anything."""

    def around(self) -> Break:
        """The break as a function sees it that runs eagerly because of it, and has none of its own."""
        return replace(self, eager=True, sure=True, hides=True, leaves=True, leaves_trained=True, early=False)


class GraphBreak(Event):
    """The graph breaks at this line: a rule has said so of this very line, or of what is called there.

    What is alive across it is handed to code that is compiled by itself: to `function`, with its parameters as `given`,
    and to the rest of the function that the event happens in.
    """

    __slots__ = ("at", "function", "given")
    kind = "graph_break"

    def __init__(
        self,
        frame: Frame,
        node: ast.AST,
        at: Break,
        function: FunctionValue | None = None,
        given: Mapping[str, Value] | None = None,
    ) -> None:
        super().__init__(frame, node)
        self.at = at
        self.function = function
        self.given: Mapping[str, Value] = given or {}

    @property
    def resumes(self) -> bool:
        """Whether the rest of the function is compiled."""
        return not runs_eagerly(self.frame)


class Apart(Event):
    """A comprehension of a function that a break has left to eager mode: Python until 3.11 calls it as a function, which Dynamo
    then looks at by itself, with an iterator as its argument. `iterator` is that of the facts: `iter of a list`."""

    __slots__ = ("at", "iterator")
    kind = "apart"
    apart = True

    def __init__(self, frame: Frame, node: ast.AST, iterator: str, at: Break) -> None:
        super().__init__(frame, node)
        self.iterator = iterator
        self.at = at


def runs_eagerly(frame: Frame) -> bool:
    """Whether a break at this place sends the whole function to eager: out of the contexts of torch Dynamo does resume."""
    return frame.held > 0 or not _NOT_RESUMED.isdisjoint(frame.blocks)


def seen_from(frame: Frame, at: Break, called: ast.AST | None = None, refused: bool = False) -> Break:
    """A break as the caller of `frame` sees it, after all that were seen in it before; `called` is what calls where it is
    in a callee; `refused` says that Dynamo refuses a context, or what a name or an attribute holds."""
    before = frame.broken
    here = runs_eagerly(frame)
    sure = at.sure and not frame.maybe
    generator = frame.function is not None and frame.function.node_index(yields)
    # Dynamo resumes neither in a generator nor inside a context of the program, nor where entering or leaving one breaks.
    # Out of other `with` blocks it does.
    held = sure and (generator or frame.held > 0 or refused or at.early or isinstance(called, ast.With))
    leaves = held or (sure and not _LOOPS.isdisjoint(frame.blocks))
    trained = (at.sure or at.trained) and frame.maybe == frame.modal
    leaves_trained = leaves or (trained and not _LOOPS.isdisjoint(frame.blocks))
    hides = held or (called is not None and leaves)
    # Nor can it resume behind a property or an operator that breaks: what it asks for is no call in the bytecode.
    hides = hides or isinstance(called, (ast.Attribute, ast.BinOp))
    if before is None:
        early = generator and sure and not frame.yields
        return Break(at.path, at.line, here, sure, hides, leaves, trained, leaves_trained, early)
    return Break(
        before.path,
        before.line,
        here or before.eager,
        before.sure or sure,
        hides or before.hides,
        leaves or before.leaves,
        trained or before.trained,
        leaves_trained or before.leaves_trained,
        before.early,
    )
