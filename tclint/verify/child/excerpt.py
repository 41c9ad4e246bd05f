"""A statement run by itself, on the values that a call of the program had there.

A break sends the rest of its function to eager mode, so that Dynamo never looks at the lines behind it. They run all the
same, and what they would do to a graph shows when one is traced alone.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

from tclint.verify.child.compiling import uncompiled
from tclint.verify.child.experiments import Setup, fresh
from tclint.verify.child.inputs import Call, Example, consumed
from tclint.verify.child.owners import kept
from tclint.verify.child.replay import within
from tclint.verify.forks import leave_if_copy
from tclint.verify.job import Goal

SOON = 6.0
"""Seconds of the processor for the call on whose way the statement lies."""
_OUTSIDE = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)
"""What has no meaning outside of its function."""


class _There(BaseException):
    """The statement is reached. No program catches it."""


@dataclass(frozen=True)
class _Statement:
    path: str
    first: int
    last: int
    node: ast.stmt
    names: frozenset[str]


def excerpt(example: Example, place: Goal, setup: Setup, mode: str) -> Example | None:
    """The statement of a place alone, as an example's call in that mode comes to it; None where it cannot be taken out."""
    statement = _statement(place.path, place.mark or place.line)
    if statement is None:
        return None
    there = _values_at(example, statement, setup, mode)
    if there is None:
        return None
    values, around = there
    names = [name for name in sorted(statement.names) if name in values]
    try:
        held = kept({name: values[name] for name in names})
        function = _function(statement, names, around)
        copy.deepcopy(held)
    except Exception:
        # Values that cannot be copied cannot be given again and again.
        return None
    source = f"{example.source}; its line {place.line} by itself"
    return Example(source, lambda: function, lambda: [Call((), copy.deepcopy(held))], unsure=True)


@lru_cache(maxsize=64)
def _tree(path: str) -> ast.Module | None:
    try:
        return ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def _statement(path: str, line: int) -> _Statement | None:
    """The innermost statement at a line; of one that holds others only its head."""
    tree = _tree(path)
    around: list[ast.stmt] = [
        node
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    if not around:
        return None
    found = max(around, key=lambda node: (node.lineno, -(node.end_lineno or 0)))
    head = _head(found)
    if head is None or any(isinstance(part, _OUTSIDE) for part in ast.walk(head)):
        return None
    body = getattr(found, "body", None)
    last = body[0].lineno - 1 if isinstance(body, list) and body else found.end_lineno or found.lineno
    names = frozenset(part.id for part in ast.walk(head) if isinstance(part, ast.Name))
    if "super" in names:
        return None
    return _Statement(path, found.lineno, max(last, found.lineno), head, names)


def _head(node: ast.stmt) -> ast.stmt | None:
    """The statement, with nothing in place of those inside of it; None where it cannot stand alone."""
    nothing: list[ast.stmt] = [ast.copy_location(ast.Pass(), node)]
    match node:
        case ast.If(test=test) | ast.While(test=test):
            return ast.copy_location(ast.If(test, nothing, []), node)
        case ast.For(target=target, iter=items):
            return ast.copy_location(ast.For(target, items, nothing, []), node)
        case ast.With(items=items):
            return ast.copy_location(ast.With(items, nothing), node)
        case ast.Expr() | ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Return() | ast.Assert():
            return node
        case _:
            return None


def _function(statement: _Statement, names: Sequence[str], around: Mapping[str, Any]) -> Callable[..., Any]:
    """A function of the values whose body is the statement, at its own line of its own file. It gives what was stored: a
    graph of which nothing is used would not be made."""
    stored = {
        part.id for part in ast.walk(statement.node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    plain = isinstance(statement.node, (ast.Assign, ast.AugAssign, ast.AnnAssign))
    given = ast.Tuple([ast.Name(name, ast.Load()) for name in sorted(stored if plain else ())], ast.Load())
    arguments = ast.arguments([], [], None, [ast.arg(name) for name in names], [None for _ in names], None, [])
    body = [copy.deepcopy(statement.node), ast.Return(given)]
    definition = ast.FunctionDef("excerpt", arguments, body, [])
    for node in (definition, arguments, *arguments.kwonlyargs, *ast.walk(body[1])):
        ast.copy_location(node, statement.node)
    code = compile(ast.fix_missing_locations(ast.Module([definition], [])), statement.path, "exec")
    inner = next(part for part in code.co_consts if hasattr(part, "co_code"))
    return FunctionType(inner, dict(around))


def _values_at(
    example: Example, statement: _Statement, setup: Setup, mode: str
) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """What names stand for where a call first comes to the statement: the function's own, and the file's."""
    found: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []

    def on_line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line" and statement.first <= frame.f_lineno <= statement.last:
            sys.settrace(None)
            found.append((dict(frame.f_locals), frame.f_globals))
            raise _There
        return on_line

    def on_call(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        own = code.co_filename == statement.path and not code.co_name.startswith("<")
        return on_line if own and code.co_firstlineno <= statement.first else None

    before = sys.gettrace()
    try:
        with uncompiled(), within(SOON):
            target, calls = fresh(setup, example, mode, None)
            sys.settrace(on_call)
            for call in calls:
                consumed(target(*call.args, **call.kwargs))
    except _There:
        pass
    except (Exception, SystemExit):
        # A call that raises before it comes there.
        return None
    finally:
        sys.settrace(before)
        leave_if_copy()
    return found[0] if found else None
