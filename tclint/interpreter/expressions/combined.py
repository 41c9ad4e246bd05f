"""Conditions that `and`, `or` and `not` make of others."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator


def leaves(test: ast.expr) -> Iterator[ast.expr]:
    """The tests that a condition is made of."""
    if isinstance(test, ast.BoolOp):
        for each in test.values:
            yield from leaves(each)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from leaves(test.operand)
    else:
        yield test


def outcome(test: ast.expr, of_leaf: Callable[[ast.expr], bool | None]) -> bool | None:
    """What a condition comes to, by what each of its tests does; None where these do not decide it."""
    if isinstance(test, ast.BoolOp):
        answers = [outcome(each, of_leaf) for each in test.values]
        stops = isinstance(test.op, ast.Or)
        return stops if stops in answers else None if None in answers else not stops
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = outcome(test.operand, of_leaf)
        return None if inner is None else not inner
    return of_leaf(test)
