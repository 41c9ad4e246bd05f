"""What must hold so that a line runs: the names that the conditions on the way to it ask, read from the source."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

CALLERS = 3
"""How many functions up from the line are looked at."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True, slots=True)
class Asked:
    """A parameter, of a call or of a constructor, that decides whether a line runs."""

    name: str
    values: tuple[object, ...] = ()
    """Constants that it is compared with."""


@dataclass(slots=True)
class _Found:
    values: dict[str, list[object]] = field(default_factory=dict)
    """By name, in the order in which they were met: what is asked next to the line comes first."""
    seen: set[tuple[int, str]] = field(default_factory=set)
    later: deque[tuple[_Place, list[ast.expr]]] = field(default_factory=deque)
    """What the names that were met are made of: looked at when all that is as near to the line has been."""

    def add(self, name: str, values: Iterable[object] = ()) -> None:
        known = self.values.setdefault(name, [])
        known += [value for value in values if value not in known]


@dataclass(frozen=True, slots=True)
class _Place:
    """A function, and the class whose method it is."""

    function: _Function
    owner: ast.ClassDef | None

    @property
    def parameters(self) -> list[str]:
        given = self.function.args
        return [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


@lru_cache(maxsize=256)
def asked_before(path: str, line: int) -> tuple[Asked, ...]:
    """What the conditions ask that decide whether a line runs, those next to it first."""
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ()
    places = list(_places(tree, None))
    found = _Found()
    level = [(place, line) for place in places if _holds(place.function, line)][-1:]
    for _ in range(CALLERS):
        above: list[tuple[_Place, int]] = []
        for place, at in level:
            _ask(place, list(_tests(place.function.body, at))[::-1], found)
            _follow(found)
            for caller, call in _calls(place.function.name, places):
                if caller.function is not place.function:
                    above.append((caller, call.lineno))
                    given = _given(call, place, found)
                    _ask(caller, given, found)
                    _follow(found)
        level = above
    return tuple(Asked(name, tuple(values)) for name, values in found.values.items())


def _places(node: ast.AST, owner: ast.ClassDef | None) -> Iterator[_Place]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield _Place(child, owner)
        yield from _places(child, child if isinstance(child, ast.ClassDef) else owner)


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _tests(body: Sequence[ast.stmt], line: int) -> Iterator[ast.expr]:
    """The conditions around a line, and those before it that end the function or the loop."""
    for statement in body:
        if statement.lineno > line:
            return
        if not _holds(statement, line):
            if isinstance(statement, ast.If) and any(
                part and isinstance(part[-1], _LEAVES) for part in (statement.body, statement.orelse)
            ):
                yield statement.test
            continue
        match statement:
            case ast.If(test=head, body=inner) | ast.While(test=head, body=inner) if line <= (head.end_lineno or 0):
                # The line is the condition itself: it runs whatever comes of it.
                yield from _parts(head)
            case ast.If(test=test, body=inner, orelse=other) | ast.While(test=test, body=inner, orelse=other):
                yield test
                yield from _tests([*inner, *other], line)
            case ast.For(iter=items, body=inner, orelse=other) | ast.AsyncFor(iter=items, body=inner, orelse=other):
                yield items
                yield from _tests([*inner, *other], line)
            case ast.With(body=inner) | ast.AsyncWith(body=inner):
                yield from _tests(inner, line)
            case ast.Match(subject=subject, cases=cases):
                yield subject
                yield from _tests([part for case in cases for part in case.body], line)
            case ast.Try(body=inner, handlers=handlers, orelse=other, finalbody=last):
                below = [part for handler in handlers for part in handler.body]
                yield from _tests(sorted([*inner, *below, *other, *last], key=lambda s: s.lineno), line)
            case _:
                yield from _parts(statement)


def _parts(node: ast.AST) -> Iterator[ast.expr]:
    """The conditions inside of a statement or an expression."""
    for part in ast.walk(node):
        if isinstance(part, ast.IfExp):
            yield part.test
        elif isinstance(part, ast.BoolOp):
            yield from part.values[:-1]


def _ask(place: _Place, tests: Sequence[ast.expr], found: _Found) -> None:
    for test in tests:
        for part in ast.walk(test):
            if isinstance(part, ast.Name):
                _name(place, part.id, _compared(test, part), found)
            elif (attribute := _own(part)) is not None:
                _attribute(place, attribute, _compared(test, part), found)


def _follow(found: _Found) -> None:
    """What is asked by way of others, the fewer the sooner."""
    while found.later:
        _ask(*found.later.popleft(), found)


def _name(place: _Place, name: str, values: list[object], found: _Found) -> None:
    if (id(place.function), name) in found.seen or name in ("self", "cls"):
        return
    found.seen.add((id(place.function), name))
    if name in place.parameters:
        found.add(name, values)
    for node in ast.walk(place.function):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.later.append((place, [_bound_to(t, node.value, name) for t in targets if _binds(t, name)]))
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            found.later.append((place, _looped_over(node.target, node.iter, name, place.function)))


def _bound_to(target: ast.expr, value: ast.expr, name: str) -> ast.expr:
    """What a name is bound to: of several that are bound together, its own."""
    several = (ast.Tuple, ast.List)
    if isinstance(target, several) and isinstance(value, several) and len(target.elts) == len(value.elts):
        pairs = list(zip(target.elts, value.elts, strict=True))
        if not any(isinstance(part, ast.Starred) for pair in pairs for part in pair):
            return next(_bound_to(part, own, name) for part, own in pairs if _binds(part, name))
    return value


def _looped_over(target: ast.expr, items: ast.expr, name: str, function: _Function) -> list[ast.expr]:
    """What a name of a loop is taken from: of several sequences that are gone through together, its own."""
    if not _binds(target, name):
        return []
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(items, ast.Call) and isinstance(items.func, ast.Name):
        position = next(number for number, part in enumerate(target.elts) if _binds(part, name))
        if items.func.id == "enumerate" and items.args:
            return _looped_over(target.elts[1], items.args[0], name, function) if position == 1 else []
        if items.func.id == "zip" and position < len(gone := _spread(items.args, function)):
            return [gone[position]]
    return [items]


def _binds(target: ast.expr, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(target))


def _spread(arguments: Sequence[ast.expr], function: _Function) -> list[ast.expr]:
    """The arguments of a call, with the parts of a tuple that is made in the function in place of `*name`."""
    found: list[ast.expr] = []
    for argument in arguments:
        if not isinstance(argument, ast.Starred):
            found.append(argument)
            continue
        made: ast.expr | None = argument.value
        if isinstance(made, ast.Name):
            bound = (node for node in ast.walk(function) if isinstance(node, ast.Assign))
            made = next(
                (n.value for n in bound if any(isinstance(t, ast.Name) and t.id == made.id for t in n.targets)), None
            )
        if not isinstance(made, (ast.Tuple, ast.List)):
            return []
        found += made.elts
    return found


def _attribute(place: _Place, name: str, values: list[object], found: _Found) -> None:
    if place.owner is None or (id(place.owner), name) in found.seen:
        return
    found.seen.add((id(place.owner), name))
    found.add(name, values)
    for method in place.owner.body:
        if not isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        inner = _Place(method, place.owner)
        if method.name == name:
            given = [node.value for node in ast.walk(method) if isinstance(node, ast.Return) and node.value]
            found.later.append((inner, given))
        for node in ast.walk(method):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(_own(target) == name for target in targets):
                    found.later.append((inner, [node.value]))
            elif isinstance(node, ast.Call) and _registers(node, name):
                found.later.append((inner, node.args[1:]))


def _registers(call: ast.Call, name: str) -> bool:
    """`self.register_buffer("name", …)` and the like: an attribute of that name is made of the rest."""
    if (_own(call.func) or "").startswith("register_") and call.args:
        return isinstance(call.args[0], ast.Constant) and call.args[0].value == name
    return False


def _own(node: ast.AST) -> str | None:
    """The attribute that is read of `self`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return None


def _compared(test: ast.expr, part: ast.AST) -> list[object]:
    """The constants that a name or an attribute is compared with."""
    found: list[object] = []
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and part in (node.left, node.comparators[0]):
            other = node.comparators[0] if part is node.left else node.left
            items = other.elts if isinstance(other, (ast.Tuple, ast.List, ast.Set)) else [other]
            found += [item.value for item in items if isinstance(item, ast.Constant) and item.value is not None]
    return found


def _calls(name: str, places: Sequence[_Place]) -> Iterator[tuple[_Place, ast.Call]]:
    for place in places:
        for node in ast.walk(place.function):
            if isinstance(node, ast.Call) and name not in ("forward", "__call__", "__init__"):
                called = node.func
                if name == (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")):
                    yield place, node


def _given(call: ast.Call, place: _Place, found: _Found) -> list[ast.expr]:
    """What a call passes for the parameters that are asked."""
    names = place.parameters[1:] if place.owner is not None else place.parameters
    pairs = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
    return [value for name, value in pairs if name in found.values]
