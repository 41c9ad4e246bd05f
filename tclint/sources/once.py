"""What a function does in its first call and skips in every later one: what is behind a flag, or behind a cache."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tclint.sources.tree import Position, holders, nodes, own_by_kind, position, text

_CHANGES: Final = (ast.Call, ast.Assign, ast.AnnAssign, ast.AugAssign)
_LONGEST: Final = 60
"""So much of a test is quoted."""


Method = Callable[[str], ast.AST | None]
"""Finds a method of the class around by its name."""


@dataclass(frozen=True, slots=True)
class Once:
    """Statements that close, by what they do, the way that led to them."""

    place: Position
    test: str
    holds: bool
    """Whether they run as long as the test holds, or until it does."""
    anew: bool = False
    """Whether a call that skips them is compiled anew, without them."""

    def around(self, node: ast.AST) -> bool:
        there = position(node)
        return self.place[:2] <= there[:2] and there[2:] <= self.place[2:]

    def __str__(self) -> str:
        return f"while `{self.test}` is {'true' if self.holds else 'false'}"


def only_once(root: ast.AST) -> frozenset[Position]:
    """The stores and calls that a later call skips."""
    found: set[Position] = set()
    for _, _, body in _closed(root):
        inner = (part for each in body for part in nodes(each))
        found.update(position(part) for part in inner if isinstance(part, _CHANGES))
    return frozenset(found)


def once(root: ast.AST, method: Method | None = None) -> tuple[Once, ...]:
    """The statements that a later call skips, each block with the test that stands before it.

    `method` finds those of the class around: `if self.runner is None: self.build()` closes the way where `build` binds it.
    """
    found = []
    for test, holds, body in _closed(root, method):
        place = (*position(body[0])[:2], *position(body[-1])[2:])
        words = text(test)
        found.append(Once(place, words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…", holds))
    return tuple(found)


def _closed(root: ast.AST, method: Method | None = None) -> Iterator[tuple[ast.expr, bool, list[ast.stmt]]]:
    """Tests, how they come out, and what is done then: under an `if` that what it does itself closes, or after a `return` that
    it opens (`if not self.ready: …; self.ready = True`, `if key in self.seen: return`)."""
    outer: frozenset[str] | None = None
    for node in holders(root):
        for field in ("body", "orelse"):
            found_there = getattr(node, field, None)
            block: list[ast.stmt] = found_there if isinstance(found_there, list) else []
            for index, statement in enumerate(block):
                if not isinstance(statement, ast.If):
                    continue
                outer = _outer(root) if outer is None else outer
                guarded = [(statement.body, True), (statement.orelse, False)]
                if isinstance(statement.body[-1], ast.Return):
                    guarded.append((block[index + 1 :], False))
                for body, taken in guarded:
                    done = [*body, *_called(body, method)]
                    for test, truth in _asked(statement.test, taken) if body else ():
                        if _closes(test, truth, done, outer):
                            yield test, truth, body
                            break


def _called(body: Sequence[ast.stmt], method: Method | None) -> Iterator[ast.stmt]:
    """What is done by the methods of the same object that these statements call, in any case."""
    for name in called_on_self(body) if method is not None else ():
        assert method is not None
        yield from getattr(method(name), "body", ())


def called_on_self(body: Sequence[ast.stmt]) -> Iterator[str]:
    """The methods of its own object that statements call in any case."""
    for statement in done(body):
        called = statement.value if isinstance(statement, ast.Expr) else None
        func = called.func if isinstance(called, ast.Call) else None
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self":
            yield func.attr


def _outer(root: ast.AST) -> frozenset[str]:
    """The names that a function reads and that outlive its call: those of the file, and of a function around it."""
    there = own_by_kind(root)
    bound = {node.arg for node in nodes(getattr(root, "args", ast.Pass())) if type(node) is ast.arg}
    bound.update(node.arg for node in there[ast.arg])
    bound.update(node.id for node in there[ast.Name] if type(node.ctx) is not ast.Load)
    declared = {name for kind in (ast.Global, ast.Nonlocal) for node in there[kind] for name in node.names}
    return frozenset({node.id for node in there[ast.Name]} - bound | declared)


def _asked(test: ast.expr, truth: bool) -> Iterator[tuple[ast.expr, bool]]:
    """What must all hold, or not hold, for a test to come out so."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _asked(test.operand, not truth)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is truth:
        for part in test.values:
            yield from _asked(part, truth)
    else:
        yield test, truth


def _closes(test: ast.expr, truth: bool, body: Sequence[ast.stmt], outer: frozenset[str]) -> bool:
    """Whether a test that came out so comes out otherwise once these statements have run."""
    if _outlives(test, outer):
        return any(isinstance(v, ast.Constant) and bool(v.value) is not truth for v in _bound(test, body))
    if isinstance(test, ast.Call):
        return not truth and _asks_for_attribute(test, body)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    operator, left, right = test.ops[0], test.left, test.comparators[0]
    if isinstance(operator, (ast.In, ast.NotIn)):
        if isinstance(operator, ast.NotIn) is not truth:
            return False
        return isinstance(right, ast.Attribute) or (_outlives(right, outer) and _fills(right, body))  # a cache
    if not _outlives(left, outer) or not isinstance(right, ast.Constant):
        return False
    if isinstance(operator, (ast.Is, ast.Eq)) is not truth:
        return False
    if isinstance(operator, (ast.Is, ast.IsNot)) and right.value is not None:
        return False
    bound = _bound(left, body)
    if isinstance(operator, (ast.Eq, ast.NotEq)):
        return any(v is None or isinstance(v, ast.Constant) and v.value != right.value for v in bound)
    if isinstance(operator, (ast.Is, ast.IsNot)):
        return any(v is None or not (isinstance(v, ast.Constant) and v.value is None) for v in bound)
    return False


def _outlives(node: ast.expr, outer: frozenset[str]) -> bool:
    """Whether what is bound there is there in the next call: an attribute, a name of the file, `CACHE["stale"]`."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant)
    return isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and node.id in outer)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        return text(node)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _asks_for_attribute(test: ast.Call, body: Sequence[ast.stmt]) -> bool:
    """`hasattr(self, "table")`, where the statements bind it."""
    if not isinstance(test.func, ast.Name) or test.func.id != "hasattr" or len(test.args) != 2:
        return False
    owner, asked = test.args
    if not isinstance(asked, ast.Constant) or not isinstance(asked.value, str):
        return False
    return bool(_bound(ast.Attribute(owner, asked.value, ast.Load()), body))


def _bound(place: ast.expr, body: Sequence[ast.stmt]) -> list[ast.expr | None]:
    """What these statements bind a place to in any case; None where they add to it."""
    found: list[ast.expr | None] = []
    kind, name = type(place), _name(place)
    for statement in done(body):
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, kind):
            if _name(statement.target) == name and isinstance(statement.value, ast.Constant):
                found.append(None)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if any(isinstance(t, kind) and _name(t) == name for t in targets):
                found.append(statement.value)
    return found


def _fills(container: ast.expr, body: Sequence[ast.stmt]) -> bool:
    """Whether these statements put something into a container: `CACHE[key] = …`, `SEEN.add(key)`."""
    for statement in done(body):
        targets = statement.targets if isinstance(statement, ast.Assign) else ()
        if any(isinstance(t, ast.Subscript) and _name(t.value) == _name(container) for t in targets):
            return True
        called = statement.value if isinstance(statement, ast.Expr) else None
        method = called.func if isinstance(called, ast.Call) else None
        if isinstance(method, ast.Attribute) and _name(method.value) == _name(container):
            return True
    return False


def done(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run in any case, as long as nothing fails: also those under a lock or a `try`."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.With, ast.Try)):
            yield from done(statement.body)
