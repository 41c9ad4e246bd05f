"""Which assignment of its function a read of a name sees, where one statement alone decides that."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tclint.program import Function
from tclint.sources.tree import nodes

_BLOCKS: Final = ("body", "orelse", "finalbody")
_Path = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Binding:
    """One statement that binds a name: what it is bound to (None where no one expression says that), and where it stands."""

    value: ast.expr | None
    statement: ast.stmt
    path: _Path
    """The blocks around it, from the outside."""


@dataclass(frozen=True, slots=True)
class _Place:
    statement: ast.stmt
    path: _Path


def seen(function: Function, read: ast.AST, name: str) -> Binding | None | bool:
    """The binding that a read sees; False where nothing has bound the name before, None where it cannot be told."""
    places, loops = function.index(_places)
    bindings = function.index(_bindings).get(name, [])
    here = _around(places, read)
    if here is None:
        return None
    for binding in bindings:
        # A later turn of a loop brings what stands further down in it.
        if any(path in loops and here.path[: len(path)] == path for path in _prefixes(binding.path)):
            if not (_before(binding.statement, here.statement) and here.path[: len(binding.path)] == binding.path):
                return None
    before = [each for each in bindings if _before(each.statement, here.statement)]
    if not before:
        return False
    last = before[-1]
    return last if here.path[: len(last.path)] == last.path else None


def guards(function: Function, read: ast.AST, name: str) -> list[list[tuple[ast.stmt, str]]]:
    """For each binding of a name before a read, the statements that may leave it out, and in which of their blocks it stands."""
    places, _ = function.index(_places)
    here, blocks = _around(places, read), function.index(_holders)
    found: list[list[tuple[ast.stmt, str]]] = []
    for binding in function.index(_bindings).get(name, []) if here is not None else ():
        assert here is not None
        if _before(binding.statement, here.statement):
            found.append([blocks[path] for path in _prefixes(binding.path) if path != here.path[: len(path)]])
    return found


def doubtful(function: Function) -> frozenset[str]:
    """The names that a function binds only in blocks that may be left out."""
    given = {each.arg for each in nodes(function.node.args) if isinstance(each, ast.arg)}
    bindings = function.index(_bindings).items()
    return frozenset(name for name, found in bindings if name not in given and all(len(b.path) > 1 for b in found))


def _holders(function: Function) -> dict[_Path, tuple[ast.stmt, str]]:
    """The statement that each block belongs to, and which of its blocks it is."""
    found: dict[_Path, tuple[ast.stmt, str]] = {}
    places = function.index(_places)[0]
    by_path: dict[_Path, list[_Place]] = {}
    for place in places:
        by_path.setdefault(place.path, []).append(place)
    for path, inside in by_path.items():
        outer = [p for p in places if p.path == path[:-1] and _holds(p.statement, inside[0].statement)]
        for place in outer:
            fields = [f for f in _BLOCKS if inside[0].statement in (getattr(place.statement, f, None) or ())]
            found[path] = (place.statement, fields[0] if fields else "")
    return found


def _holds(outer: ast.stmt, inner: ast.stmt) -> bool:
    return outer.lineno <= inner.lineno and (inner.end_lineno or 0) <= (outer.end_lineno or 0)


def _prefixes(path: _Path) -> Iterator[_Path]:
    return (path[:end] for end in range(1, len(path) + 1))


def _before(statement: ast.stmt, other: ast.stmt) -> bool:
    return (statement.end_lineno or 0, statement.end_col_offset or 0) <= (other.lineno, other.col_offset)


def _around(places: Sequence[_Place], read: ast.AST) -> _Place | None:
    """The innermost statement around a node."""
    at = (getattr(read, "lineno", 0), getattr(read, "col_offset", 0))
    found = None
    for place in places:
        node = place.statement
        if (node.lineno, node.col_offset) <= at < (node.end_lineno or 0, node.end_col_offset or 0):
            found = place
    return found


def _places(function: Function) -> tuple[list[_Place], frozenset[_Path]]:
    """The statements of a function in their order, and the blocks that loops repeat."""
    found: list[_Place] = []
    loops: set[_Path] = set()
    if not isinstance(function.node, ast.Lambda):
        _gather(function.node.body, (), found, loops)
    return found, frozenset(loops)


def _gather(body: Sequence[ast.stmt], around: _Path, found: list[_Place], loops: set[_Path]) -> None:
    path = (*around, len(found))
    for statement in body:
        found.append(_Place(statement, path))
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        repeats = isinstance(statement, (ast.For, ast.AsyncFor, ast.While))
        for field in _BLOCKS:
            if inner := getattr(statement, field, None):
                if repeats and field == "body":
                    loops.add((*path, len(found)))
                _gather(inner, path, found, loops)
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            _gather(part.body, path, found, loops)


def _bindings(function: Function) -> dict[str, list[Binding]]:
    found: dict[str, list[Binding]] = {}
    for place in function.index(_places)[0]:
        for name, value in _bound(place.statement):
            found.setdefault(name, []).append(Binding(value, place.statement, place.path))
    return found


def _bound(statement: ast.stmt) -> Iterator[tuple[str, ast.expr | None]]:
    """The names that a statement itself binds, not those of the blocks in it."""
    if isinstance(statement, ast.Assign) and all(isinstance(target, ast.Name) for target in statement.targets):
        for target in statement.targets:
            assert isinstance(target, ast.Name)
            yield target.id, statement.value
    elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id, None
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        if statement.value is not None:
            yield statement.target.id, statement.value
        return
    elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name, None
        return
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0], None
    blocks = {id(each) for field in _BLOCKS for each in getattr(statement, field, None) or ()}
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        blocks |= {id(each) for each in part.body}
        if getattr(part, "name", None):
            yield part.name, None
    plain = isinstance(statement, ast.Assign) and all(isinstance(target, ast.Name) for target in statement.targets)
    for child in ast.iter_child_nodes(statement):
        if id(child) in blocks or plain and isinstance(child, ast.Name):
            continue
        for node in () if isinstance(child, ast.ExceptHandler) else nodes(child):
            if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
                yield node.id, None
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _changes(node.func):
                assert isinstance(node.func.value, ast.Name)
                yield node.func.value.id, None


def _changes(method: ast.Attribute) -> bool:
    """`x.unsqueeze_(0)`: what a name holds may be of other sizes behind it."""
    return isinstance(method.value, ast.Name) and method.attr.endswith("_") and not method.attr.endswith("__")
