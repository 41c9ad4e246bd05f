"""Lines behind a flag that no call sets: run on the values that a call had where it asked for the flag.

Only flags are taken for set: conditions that ask what kind of thing a value is, whether it is there or what is in it decide
what the lines behind them work on, and so does whether the program is being compiled.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tclint.verify.child.excerpt import Excerpt, around, head_of, last_of, statement_at, taken_out, values_at
from tclint.verify.child.experiments import Setup
from tclint.verify.child.inputs import Example
from tclint.verify.job import Goal

_MODE = re.compile(r"compil|script|trac|export|fake|debug", re.IGNORECASE)
"""Names that ask how the program is run."""
_PLAIN = (ast.BoolOp, ast.UnaryOp, ast.Compare, ast.Constant, ast.boolop, ast.unaryop, ast.cmpop, ast.expr_context)


@dataclass(frozen=True)
class _Way:
    """From a condition to a line: the conditions, and the statements of their branches up to it."""

    head: ast.If
    tests: tuple[ast.expr, ...]
    body: tuple[ast.stmt, ...]


def flagged(
    example: Example, place: Goal, setup: Setup, mode: str, covered: Mapping[str, tuple[int, ...]]
) -> Example | None:
    """The statements from the first condition that kept a call from a place, as if it and those behind it held; None where
    one of them is more than a flag."""
    ran = covered.get(place.path, ())
    way = _way(around(place.path, place.mark or place.line), ran)
    if way is None:
        return None
    part = Excerpt(place.path, way.head.lineno, last_of(way.head), way.body)
    if not part.stands_alone or (there := values_at(example, part, setup, mode)) is None:
        return None
    values, known = there
    if not all(_is_flag(test, values) for test in way.tests):
        return None
    # What is asserted of the flags holds in the program where they are set: here they are only taken for set.
    asked = [s for s in way.body[:-1] if isinstance(s, ast.Assert) and _is_flag(s.test, values)]
    part = replace(part, body=tuple(statement for statement in part.body if statement not in asked))
    return taken_out(example, part, values, known, f"lines behind the flag at line {way.head.lineno} by themselves")


def flagged_inside(example: Example, place: Goal, setup: Setup, mode: str) -> Example | None:
    """The statement of a place that a call runs, as if the flags before the place on its own line held: `self.on and f()`."""
    found = statement_at(place.path, place.mark or place.line)
    if found is None or (there := values_at(example, found, setup, mode)) is None:
        return None
    values, known = there
    inner = _Inside(place.mark or place.line, place.column - 1)
    body = tuple(inner.visit(copy.deepcopy(node)) for node in found.body)
    if not inner.tests or not all(_is_flag(test, values) for test in inner.tests):
        return None
    told = f"its line {place.line} by itself, the flags on it set"
    return taken_out(example, replace(found, body=body), values, known, told)


class _Inside(ast.NodeTransformer):
    """Leaves out the conditions that an expression asks before it comes to a place."""

    def __init__(self, line: int, column: int) -> None:
        self._at = (line, column)
        self.tests: list[ast.expr] = []

    def _holds(self, node: ast.expr) -> bool:
        end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
        return (node.lineno, node.col_offset) <= self._at < end

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        position = next((index for index, value in enumerate(node.values) if self._holds(value)), 0)
        self.tests += node.values[:position]
        # What stands behind the place is asked after it.
        return self.generic_visit(node) if not position else self.visit(node.values[position])

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        for branch in (node.body, node.orelse):
            if self._holds(branch):
                self.tests.append(node.test)
                return self.visit(branch)  # type: ignore[no-any-return]
        return self.generic_visit(node)


def _way(holders: Sequence[ast.stmt], ran: Sequence[int]) -> _Way | None:
    for position, holder in enumerate(holders[:-1]):
        if not isinstance(holder, ast.If) or holder.lineno not in ran:
            continue
        inside = holders[position + 1 :]
        if inside[0].lineno in ran or any(branch[0].lineno in ran for branch in _branches(holder, inside[0])):
            continue
        tests = [holder.test, *(node.test for node in inside[:-1] if isinstance(node, ast.If))]
        if not all(isinstance(node, ast.If) for node in inside[:-1]) or (head := head_of(inside[-1])) is None:
            return None
        body = [
            statement
            for outer, inner in zip([holder, *inside[:-1]], inside, strict=True)
            for branch in _branches(outer, inner)
            for statement in branch[: branch.index(inner)]
        ]
        return _Way(holder, tuple(tests), (*body, head))
    return None


def _branches(outer: ast.stmt, inner: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The branch of a condition that holds a statement itself."""
    for branch in (outer.body, outer.orelse) if isinstance(outer, ast.If) else ():
        if inner in branch:
            yield branch


def _is_flag(test: ast.expr, values: Mapping[str, Any]) -> bool:
    """Whether a condition asks for nothing but switches and numbers, of the call or of its object."""
    match test:
        case ast.Name() | ast.Attribute():
            value = _value(test, values)
            return type(value) in (bool, int, float, str) and not _MODE.search(ast.unparse(test))
        case _ if isinstance(test, _PLAIN):
            return all(_is_flag(part, values) for part in ast.iter_child_nodes(test) if isinstance(part, ast.expr))
        case _:
            return False


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, values)
        return getattr(owner, node.attr, None) if owner is not None else None
    return None
