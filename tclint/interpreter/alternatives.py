"""Which of several assignments of a name, one in each arm of an `if`, a run with this release of torch may come to."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.program import Assignment
from tclint.sources.tree import position


def possible(frame: Frame, definition: Assignment) -> list[Assignment]:
    """What a name of the file may be bound to, in the order of the text; all of it where no test says more."""
    node = frame.module.node
    bound = {position(node(each.ordinal)): each for each in (*definition.others, definition)}
    lines = [place[0] for place in bound]
    found = (bound.get(position(statement)) for statement in _reached(frame, frame.module.body, lines))
    return [each for each in found if each is not None] or [*bound.values()]


def _reached(frame: Frame, body: Sequence[ast.stmt], lines: Sequence[int]) -> Iterator[ast.stmt]:
    """The statements on the way to these lines that may run."""
    for statement in body:
        if not any(statement.lineno <= line <= (statement.end_lineno or line) for line in lines):
            continue
        if isinstance(statement, ast.If):
            holds = evaluate(frame, statement.test).truth()
            if holds is not False:
                yield from _reached(frame, statement.body, lines)
            if holds is not True:
                yield from _reached(frame, statement.orelse, lines)
        elif isinstance(statement, ast.Try):
            for inner in (statement.body, *(each.body for each in statement.handlers), statement.orelse):
                yield from _reached(frame, inner, lines)
        elif isinstance(statement, (ast.With, ast.For, ast.While)):
            yield from _reached(frame, statement.body, lines)
        else:
            yield statement
