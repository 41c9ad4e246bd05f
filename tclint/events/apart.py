"""Comprehensions as functions of their own."""

from __future__ import annotations

import ast

from tclint.events.broken import Break
from tclint.events.kinds import Event
from tclint.events.queries import Frame


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
