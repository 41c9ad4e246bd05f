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
from types import CodeType, FrameType, FunctionType
from typing import Any

import torch

from tclint.verify.child.compiling import uncompiled
from tclint.verify.child.experiments import Setup, fresh
from tclint.verify.child.inputs import Call, Example, consumed
from tclint.verify.child.limits import within
from tclint.verify.child.owners import kept
from tclint.verify.forks import leave_if_copy
from tclint.verify.job import Goal

SOON = 6.0
"""Seconds of the processor for the call on whose way the statement lies."""
_OUTSIDE = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)
"""What has no meaning outside of its function."""


class _There(BaseException):
    """The statement is reached. No program catches it."""


@dataclass(frozen=True)
class Excerpt:
    """Statements of a function that are run by themselves: whoever comes to the lines of the first has their values."""

    path: str
    first: int
    last: int
    body: tuple[ast.stmt, ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(part.id for node in self.body for part in ast.walk(node) if isinstance(part, ast.Name))

    @property
    def stands_alone(self) -> bool:
        parts = [part for node in self.body for part in ast.walk(node)]
        return "super" not in self.names and not any(isinstance(part, _OUTSIDE) for part in parts)


def excerpt(example: Example, place: Goal, setup: Setup, mode: str) -> Example | None:
    """The statement of a place alone, as an example's call in that mode comes to it; None where it cannot be taken out."""
    found = statement_at(place.path, place.mark or place.line)
    if found is None or (there := values_at(example, found, setup, mode)) is None:
        return None
    return taken_out(example, found, *there, f"its line {place.line} by itself")


def taken_out(
    example: Example, part: Excerpt, values: Mapping[str, Any], around: Mapping[str, Any], told: str
) -> Example | None:
    """Statements as an example of their own, on these values; None where they or the values cannot be had alone."""
    names = [name for name in sorted(part.names) if name in values]
    try:
        held = {name: _held(values[name]) for name in names}
        function = _function(part, names, around)
        _given(held)
    except Exception:
        # Values that cannot be copied cannot be given again and again; a `continue` has no meaning without its loop.
        return None
    return Example(f"{example.source}; {told}", lambda: function, lambda: [Call((), _given(held))], unsure=True)


def _held(value: Any) -> Any:
    """A value as it is now: what follows may write to it."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if type(value) in (list, tuple):
        return type(value)(_held(item) for item in value)
    if type(value) is dict:
        return {key: _held(item) for key, item in value.items()}
    return kept(value)


def _given(value: Any) -> Any:
    """A copy of it to work with, which gradients flow through as they did where it was made."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if type(value) in (list, tuple):
        return type(value)(_given(item) for item in value)
    if type(value) is dict:
        return {key: _given(item) for key, item in value.items()}
    return kept(value)


@lru_cache(maxsize=64)
def _tree(path: str) -> ast.Module | None:
    try:
        return ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def around(path: str, line: int) -> list[ast.stmt]:
    """The statements that hold a line, the outermost first."""
    tree = _tree(path)
    found: list[ast.stmt] = [
        node
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return sorted(found, key=lambda node: (node.lineno, -(node.end_lineno or 0)))


def statement_at(path: str, line: int) -> Excerpt | None:
    """The innermost statement at a line; of one that holds others only its head."""
    holders = around(path, line)
    node = head_of(holders[-1]) if holders else None
    if node is None:
        return None
    found = Excerpt(path, holders[-1].lineno, last_of(holders[-1]), (node,))
    return found if found.stands_alone else None


def last_of(node: ast.stmt) -> int:
    """The last line of a statement; of one that holds others, of its head."""
    body = getattr(node, "body", None)
    last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno or node.lineno
    return max(last, node.lineno)


def head_of(node: ast.stmt) -> ast.stmt | None:
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


def _function(part: Excerpt, names: Sequence[str], known: Mapping[str, Any]) -> Callable[..., Any]:
    """A function of the values whose body are the statements, at their own lines of their own file. It gives what the last
    one stores: a graph of which nothing is used would not be made."""
    last = part.body[-1]
    stored = {node.id for node in ast.walk(last) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    plain = isinstance(last, (ast.Assign, ast.AugAssign, ast.AnnAssign))
    given = ast.Return(ast.Tuple([ast.Name(name, ast.Load()) for name in sorted(stored if plain else ())], ast.Load()))
    arguments = ast.arguments([], [], None, [ast.arg(name) for name in names], [None for _ in names], None, [])
    definition = ast.FunctionDef("excerpt", arguments, [*copy.deepcopy(part.body), given], [])
    ast.copy_location(definition, part.body[0])
    for node in (arguments, *arguments.kwonlyargs):
        ast.copy_location(node, part.body[0])
    for inner in ast.walk(given):
        ast.copy_location(inner, last)
    code = compile(ast.fix_missing_locations(ast.Module([definition], [])), part.path, "exec")
    return FunctionType(next(item for item in code.co_consts if isinstance(item, CodeType)), dict(known))


def values_at(
    example: Example, part: Excerpt, setup: Setup, mode: str
) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """What names stand for where a call first comes to the statements: the function's own, and the file's."""
    found: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []

    def on_line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line" and part.first <= frame.f_lineno <= part.last:
            sys.settrace(None)
            found.append((dict(frame.f_locals), frame.f_globals))
            raise _There
        return on_line

    def on_call(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        own = code.co_filename == part.path and not code.co_name.startswith("<")
        return on_line if own and code.co_firstlineno <= part.first else None

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
