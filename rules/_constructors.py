"""Constructors of modules in compiled code.

Where the graph breaks in one, Python runs it, and each constructor of a module that it calls; Dynamo then begins afresh in each of
them with a module that is none yet, and breaks at `super().__init__()`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Enter, Event, GraphBreak
from tclint.program import Function


class Constructors:
    """The constructors of modules that compiled code runs, as they are entered and as the graph breaks in them."""

    def __init__(self) -> None:
        self._entered: list[Enter] = []
        self._broken: list[GraphBreak] = []

    def enter(self, event: Enter) -> Iterator[tuple[Event, ast.Call]]:
        """A function is entered. Gives where Dynamo breaks because of what is known by now."""
        if event.at_entry:
            self._entered.clear()
            self._broken.clear()
        if _constructs_module(event):
            self._entered.append(event)
            if any(event.called_by(broken) for broken in self._broken):
                yield from _failing(event)

    def broke(self, event: GraphBreak) -> Iterator[tuple[Event, ast.Call]]:
        """The graph breaks somewhere."""
        if not _constructs_module(event) or any(event.same_call(other) for other in self._broken):
            return
        self._broken.append(event)
        for entered in self._entered:
            if entered.same_call(event) or entered.called_by(event):
                yield from _failing(entered)


def _constructs_module(event: Event) -> bool:
    function = event.enclosing
    if function is None or function.name != "__init__" or function.cls is None or event.at_entry:
        return False
    return event.ask.is_nn_module(function.cls)


def _failing(event: Event) -> Iterator[tuple[Event, ast.Call]]:
    call = event.ask.of_function(_call_of_base)
    if call is not None:
        yield event, call


def _call_of_base(constructor: Function) -> ast.Call | None:
    """`super().__init__()`, where it stands for itself."""
    assert not isinstance(constructor.node, ast.Lambda)
    for statement in constructor.node.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
            return call
    return None
