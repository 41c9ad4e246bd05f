"""Which assignment of its function a read of a name sees, where one statement alone decides that."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tclint.program import Function
from tclint.sources.tree import below, by_kind, nodes

_BLOCKS: Final = ("body", "orelse", "finalbody")
_CAPTURES: Final = (ast.MatchAs, ast.MatchStar, ast.MatchMapping)
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)

Path = tuple[int, ...]
"""The blocks around a statement, from the outside, each by a number of its own."""
_At = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Binding:
    """One statement that binds a name: what it is bound to (None where no one expression says that), and where it stands."""

    value: ast.expr | None
    statement: ast.stmt
    path: Path
    """The blocks in which the name is surely bound behind it."""
    at: _At
    """Where it is done: the end of the statement, of one with blocks the end of its head."""


@dataclass(frozen=True, slots=True)
class _Place:
    statement: ast.stmt
    path: Path
    outer: int
    """The statement around it, by its number; -1 for none."""


@dataclass(frozen=True, slots=True)
class _Body:
    """The statements of a function in their order, with the blocks that they stand in."""

    places: Sequence[_Place]
    starts: Sequence[_At]
    holders: dict[Path, tuple[ast.stmt, str]]
    """The statement that each block belongs to, and which of its blocks it is."""
    loops: dict[Path, tuple[_At, _At]]
    """Blocks that are repeated: where each begins and ends."""

    def around(self, read: ast.AST) -> _Place | None:
        """The innermost statement around a node."""
        at = (getattr(read, "lineno", 0), getattr(read, "col_offset", 0))
        index = bisect_right(self.starts, at) - 1
        while index >= 0 and _end(self.places[index].statement) <= at:
            index = self.places[index].outer
        return self.places[index] if index >= 0 else None


@dataclass(frozen=True, slots=True)
class _Bindings:
    """What binds one name, in the order in which it is done."""

    all: Sequence[Binding]
    by_block: dict[Path, Sequence[_At]]
    """The same by the block that each stands in: where it is done."""

    def before(self, at: _At) -> int:
        return bisect_right(self.all, at, key=_at)

    def within(self, start: _At, end: _At) -> int:
        return self.before(end) - bisect_left(self.all, start, key=_at)

    def sure(self, path: Path, shortest: int, at: _At) -> int:
        """How many are done before a place, in the blocks around it."""
        blocks = (path[:length] for length in range(shortest, len(path) + 1))
        return sum(bisect_right(self.by_block[block], at) for block in blocks if block in self.by_block)


def seen(function: Function, read: ast.AST, name: str) -> Binding | None | bool:
    """The binding that a read sees; False where nothing has bound the name before, None where it cannot be told."""
    body = function.index(_body)
    here = body.around(read)
    if here is None or name in function.index(_elsewhere) or name in _inside(here.statement):
        return None
    bindings = function.index(_bindings).get(name)
    if bindings is None:
        return False
    at, path = _start(here.statement), here.path
    if isinstance(here.statement, ast.While):  # its test is asked again after each turn
        path = _inner(body, here)
    repeated = next((block for block in _prefixes(path) if block in body.loops), None)
    # A later turn of a loop brings what stands further down in it, and what only some turns do.
    if repeated and bindings.sure(path, len(repeated), at) < bindings.within(*body.loops[repeated]):
        return None
    count = bindings.before(at)
    last = bindings.all[count - 1] if count else None
    if last is None:
        return False
    return last if path[: len(last.path)] == last.path else None


def reaching(function: Function, read: ast.AST, name: str) -> list[Binding]:
    """The bindings that a read of a name is sure to see in some run: the last one, or where a block may be left out, those in it."""
    body = function.index(_body)
    here, bindings = body.around(read), function.index(_bindings).get(name)
    if here is None or bindings is None or name in function.index(_elsewhere) or name in _inside(here.statement):
        return []
    found: list[Binding] = []
    for binding in reversed(bindings.all[: bindings.before(_start(here.statement))]):
        path = binding.path
        if path == here.path[: len(path)]:
            return [*found, binding]
        # What is bound again further down in its own block does not get out of it.
        if here.path == path[: len(here.path)] and not any(path[: len(each.path)] == each.path for each in found):
            found.append(binding)
    return found


def guards(function: Function, read: ast.AST, name: str) -> list[list[tuple[ast.stmt, str]]]:
    """For each binding of a name before a read, the statements that may leave it out, and in which of their blocks it stands."""
    body = function.index(_body)
    here, bindings = body.around(read), function.index(_bindings).get(name)
    if here is None or bindings is None:
        return []
    return [
        [body.holders[path] for path in _prefixes(binding.path) if path != here.path[: len(path)]]
        for binding in bindings.all[: bindings.before(_start(here.statement))]
    ]


def doubtful(function: Function) -> frozenset[str]:
    """The names that a function binds only in blocks that may be left out."""
    given = {each.arg for each in nodes(function.node.args) if isinstance(each, ast.arg)}
    bindings = function.index(_bindings).items()
    return frozenset(name for name, found in bindings if name not in given and all(len(b.path) > 1 for b in found.all))


def _prefixes(path: Path) -> Iterator[Path]:
    return (path[:end] for end in range(1, len(path) + 1))


def _start(node: ast.stmt) -> _At:
    return node.lineno, node.col_offset


def _end(node: ast.AST) -> _At:
    return getattr(node, "end_lineno", None) or 0, getattr(node, "end_col_offset", None) or 0


def _at(binding: Binding) -> _At:
    return binding.at


def _inner(body: _Body, place: _Place) -> Path:
    """The first block of a statement that has blocks."""
    return body.places[bisect_right(body.starts, _start(place.statement))].path


def _body(function: Function) -> _Body:
    places: list[_Place] = []
    holders: dict[Path, tuple[ast.stmt, str]] = {}
    if not isinstance(function.node, ast.Lambda):
        _gather(function.node.body, (), -1, places, holders)
    loops = {
        path: (_start(of.body[0]), _end(of.body[-1]))
        for path, (of, field) in holders.items()
        if field == "body" and isinstance(of, _LOOPS)
    }
    return _Body(places, [_start(each.statement) for each in places], holders, loops)


def _gather(
    body: Sequence[ast.stmt],
    around: Path,
    outer: int,
    places: list[_Place],
    holders: dict[Path, tuple[ast.stmt, str]],
) -> None:
    path = (*around, len(places))
    if outer >= 0:
        holders[path] = (places[outer].statement, _field(places[outer].statement, body))
    for statement in body:
        number = len(places)
        places.append(_Place(statement, path, outer))
        if not isinstance(statement, _DEFINITIONS):
            for inner in sorted(_blocks(statement), key=lambda each: _start(each[0])):
                _gather(inner, path, number, places, holders)


def _blocks(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    for field in _BLOCKS:
        if inner := getattr(statement, field, None):
            yield inner
    for part in _parts(statement):
        yield part.body


def _parts(statement: ast.stmt) -> Iterable[ast.ExceptHandler | ast.match_case]:
    return (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ()))


def _field(statement: ast.stmt, body: Sequence[ast.stmt]) -> str:
    return next((field for field in _BLOCKS if getattr(statement, field, None) is body), "")


def _bindings(function: Function) -> dict[str, _Bindings]:
    body = function.index(_body)
    found: dict[str, list[Binding]] = {}
    for place in body.places:
        for name, value, path, at in _bound(body, place):
            found.setdefault(name, []).append(Binding(value, place.statement, path, at))
    return {name: _grouped(sorted(each, key=_at)) for name, each in found.items()}


def _grouped(bindings: Sequence[Binding]) -> _Bindings:
    by_block: dict[Path, list[_At]] = {}
    for binding in bindings:
        by_block.setdefault(binding.path, []).append(binding.at)
    return _Bindings(bindings, dict(by_block))


def _bound(body: _Body, place: _Place) -> Iterator[tuple[str, ast.expr | None, Path, _At]]:
    """The names that a statement itself binds, not those of the blocks in it: to what, in which block, and where it is done."""
    statement, path = place.statement, place.path
    if isinstance(statement, _DEFINITIONS):
        yield statement.name, None, path, _end(statement)
        return
    if isinstance(statement, ast.AnnAssign) and statement.value is None:
        return
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    inner = sorted(_blocks(statement), key=lambda each: _start(each[0]))
    done = _start(inner[0][0]) if inner else _end(statement)
    for name in _stored(statement):
        plain = any(isinstance(each, ast.Name) and each.id == name for each in targets)
        value = statement.value if plain and isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        # A loop without a turn binds nothing: what stands behind it does not know.
        block = _inner(body, place) if isinstance(statement, (ast.For, ast.AsyncFor)) else path
        yield name, value, block, done
    for part in _parts(statement):
        first = body.places[bisect_left(body.starts, _start(part.body[0]))]
        for name in _captured(part):
            yield name, None, first.path, _start(part.body[0])


def _heads(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes directly in a statement that are of none of its blocks."""
    blocks = {id(each) for block in _blocks(statement) for each in block} | {id(part) for part in _parts(statement)}
    return (child for child in below(statement) if id(child) not in blocks)


def _stored(statement: ast.stmt) -> set[str]:
    found: set[str] = set()
    for child in _heads(statement):
        for node in nodes(child):
            if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
                found.add(node.id)
            elif isinstance(node, ast.alias):
                found.add(node.asname or node.name.partition(".")[0])
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _changes(node.func):
                assert isinstance(node.func.value, ast.Name)
                found.add(node.func.value.id)
    return found


def _captured(part: ast.ExceptHandler | ast.match_case) -> set[str]:
    if isinstance(part, ast.ExceptHandler):
        return {part.name} if part.name else set()
    captures = (node for node in nodes(part.pattern) if isinstance(node, _CAPTURES))
    names = (node.rest if isinstance(node, ast.MatchMapping) else node.name for node in captures)
    return {name for name in names if name}


def _inside(statement: ast.stmt) -> set[str]:
    """Names that are bound in the middle of a statement: by `:=`, by a comprehension or a lambda, or changed and read again."""
    found: set[str] = set()
    changed: set[str] = set()
    read: set[str] = set()
    for child in _heads(statement):
        for node in nodes(child):
            if isinstance(node, (ast.NamedExpr, ast.comprehension)):
                found |= {each.id for each in nodes(node.target) if isinstance(each, ast.Name)}
            elif isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _changes(node.func):
                assert isinstance(node.func.value, ast.Name)
                changed.add(node.func.value.id)
            elif isinstance(node, ast.Name):
                found |= {node.id} & changed & read
                read.add(node.id)
    return found


def _elsewhere(function: Function) -> frozenset[str]:
    """Names that other functions bind, too."""
    there = by_kind(function.node)
    declared = (*there[ast.Global], *there[ast.Nonlocal])
    return frozenset(name for node in declared for name in node.names)


def _changes(method: ast.Attribute) -> bool:
    """`x.unsqueeze_(0)`: what a name holds may be of other sizes behind it."""
    return isinstance(method.value, ast.Name) and method.attr.endswith("_") and not method.attr.endswith("__")
