"""State outside a call that changes from call to call: module-level names, captured variables, attributes of modules."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from tclint.program import Assignment, Function, Module
from tclint.sources.tree import FUNCTIONS, own
from tclint.values import Instance, Scalar

if TYPE_CHECKING:
    from tclint.events import Event

Changes = Mapping[str, ast.expr | None]
"""What changes, by its name, with what it is bound to at first."""
GROWS = frozenset(
    {"append", "appendleft", "extend", "insert", "add", "update", "setdefault", "pop", "popleft", "clear"}
)
SETTLING = (bool, float, complex)
"""Constants that cost one program more at most: a flag has two values, a float becomes dynamic."""


def changed_globals(module: Module) -> Changes:
    """The module-level names that functions of the file change, as `X`, `X["key"]`, `X.attr`, or `X()` where it grows or
    shrinks; with what they are bound to at first, where that can be read."""
    return module.index(_find_changes)


def changed_captures(function: Function) -> Changes:
    """The same for the variables that a function captures and reads: what the functions beside it do to them."""
    if function.parent is None:
        return {}
    changed = function.parent.index(_find_captures)
    if not changed:
        return {}
    captured = function.free_names() - function.bound_names()
    return {name: value for root in captured & changed.keys() for name, value in changed[root].items()}


def _find_captures(outer: Function) -> dict[str, dict[str, ast.expr | None]]:
    """By variable of a function, the changes that functions inside it make."""
    names = outer.bound_names()
    changes: set[str] = set()
    for node in ast.walk(outer.node):
        if isinstance(node, FUNCTIONS) and node is not outer.node:
            changes.update(_changes_in(node, names, ast.Nonlocal))
    found: dict[str, dict[str, ast.expr | None]] = {}
    for name, value in _with_values(changes, _first_values(outer.node) if changes else {}).items():
        found.setdefault(_root(name), {})[name] = value
    return found


def reads(function: Function, changed: Changes) -> Iterator[tuple[str, ast.expr]]:
    """Where a function reads something that changes: NAME, NAME["key"] or NAME.attr."""
    return ((name, node) for name, node in function.index(_Reads).all if name in changed)


class _Reads:
    """What a function reads of names that are not its own."""

    def __init__(self, function: Function) -> None:
        nodes = list(ast.walk(function.node))
        declared = {name for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
        mine = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} - declared
        mine |= {n.arg for n in nodes if isinstance(n, ast.arg)}
        grown = {id(_grown(node)) for node in nodes}
        self.all: list[tuple[str, ast.expr]] = []
        for node in nodes:
            if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and id(node) not in grown:
                self.all += [(name, node) for name in _names_read(node) if _root(name) not in mine]
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id in declared:
                self.all.append((node.target.id, node.target))
        self.at: dict[int, list[int]] = {}
        """By the identity of a node, its places in the list."""
        for place, (_, read) in enumerate(self.all):
            self.at.setdefault(id(read), []).append(place)


def settles(value: ast.expr | None) -> bool:
    """Whether a name that is first bound to this costs no more than one program when it changes: a flag, a float, a tensor."""
    if isinstance(value, ast.Constant):
        return value.value is None or isinstance(value.value, SETTLING)
    if isinstance(value, ast.UnaryOp):
        return settles(value.operand)
    return isinstance(value, ast.Call) and ast.unparse(value.func).startswith(("torch.", "nn."))


def changing(event: Event, node: ast.AST) -> str:
    """The state in an expression of compiled code that changes from call to call, as it stands there; or nothing."""
    parts = list(ast.walk(node))
    for part in parts:
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            owner = event.ask.local(part.value.id)
            if isinstance(owner, Instance) and _varies(event, owner, part.attr):
                return ast.unparse(part)
    function = event.enclosing
    if function is None or not any(isinstance(part, ast.Name) for part in parts):
        return ""
    changed = changed_globals(event.module)
    if function.parent is not None:
        changed = {**changed, **changed_captures(function)}
    if changed:
        known = event.ask.of_function(_Reads)
        places = sorted(place for part in parts for place in known.at.get(id(part), ()))
        for name, read in (known.all[place] for place in places):
            if name in changed:
                return ast.unparse(read)
    return ""


def _varies(event: Event, owner: Instance, name: str) -> bool:
    if event.ask.rebound(owner.cls, name):
        return True
    held = event.ask.attributes(owner).get(name)
    many = event.site is not None and event.site.many
    return many and isinstance(held, Scalar) and held.type in ("int", "float", "number") and not held.source


def _names_read(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
        yield f"{node.id}()"
    elif isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.value, ast.Name):
        if isinstance(node.ctx, ast.Load):
            if isinstance(node, ast.Attribute):
                yield f"{node.value.id}.{node.attr}"
            elif isinstance(node.slice, ast.Constant):
                yield f"{node.value.id}[{node.slice.value!r}]"


def _root(name: str) -> str:
    return name.partition("[")[0].partition(".")[0].removesuffix("()")


def _with_values(names: Iterable[str], first: Changes) -> Changes:
    """What is bound at first to names, and to `X["key"]` where X is bound to a dict that can be read."""
    result: dict[str, ast.expr | None] = {}
    items: dict[str, dict[str, ast.expr]] = {}
    for name in names:
        root = _root(name)
        value = first.get(root)
        if name == root:
            result[name] = value
        elif "[" in name and isinstance(value, ast.Dict):
            if root not in items:
                pairs = zip(reversed(value.keys), reversed(value.values), strict=True)
                items[root] = {f"{root}[{k.value!r}]": held for k, held in pairs if isinstance(k, ast.Constant)}
            result[name] = items[root].get(name)
        else:
            result[name] = None
    return result


def _first_values(scope: ast.AST) -> dict[str, ast.expr | None]:
    """What the names of a function or file are bound to first."""
    found: dict[str, ast.expr | None] = {}
    for node in own(scope):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, node.value)
    return found


def _find_changes(module: Module) -> Changes:
    names = {name for name, definition in module.names.items() if isinstance(definition, Assignment)}
    found: set[str] = set()
    # Most functions change no global: their text says so faster than their tree.
    lines = list(_suspects(module.data, {name.encode() for name in names})) if names else []
    for function in module.functions if lines else ():
        first, end = function.lines
        place = bisect_left(lines, first)
        if place < len(lines) and lines[place] <= end:
            found.update(_changes_in(function.node, names, ast.Global))
    values = _first_values(module.tree) if found else {}
    return _with_values(found, values)


_SUSPECT = re.compile(
    rb"^[ \t]+(?:(global) |([\w\x80-\xff]+)(?:(?:\[[^\]\n]*\]|\.[\w\x80-\xff]+)[ \t]*[-+*/|]?=(?!=)|\.(?:"
    + "|".join(sorted(GROWS)).encode()
    + rb")\())",
    re.M,
)


def _suspects(data: bytes, names: set[bytes]) -> Iterator[int]:
    """The indented lines that start with `global` or with a change of one of the names."""
    line, counted = 1, 0
    for match in _SUSPECT.finditer(data):
        if match[1] or match[2] in names:
            line += data.count(b"\n", counted, match.start())
            counted = match.start()
            yield line


def _changes_in(
    function: ast.AST, names: AbstractSet[str], declaration: type[ast.Global] | type[ast.Nonlocal]
) -> Iterator[str]:
    """What a function changes of names that are not its own."""
    nodes = list(ast.walk(function))
    local = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    declared = {n for d in nodes if isinstance(d, declaration) for n in d.names}
    local -= declared
    for node in nodes:
        grown = _grown(node)
        if grown is not None and grown.id in names and grown.id not in local:
            yield f"{grown.id}()"
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name) and target.id in declared and target.id in names:
                yield target.id
            elif isinstance(target, (ast.Subscript, ast.Attribute)) and isinstance(target.value, ast.Name):
                if target.value.id not in names or target.value.id in local:
                    continue
                if isinstance(target, ast.Attribute):
                    yield f"{target.value.id}.{target.attr}"
                elif isinstance(target.slice, ast.Constant):
                    yield f"{target.value.id}[{target.slice.value!r}]"


def _grown(node: ast.AST) -> ast.Name | None:
    """The name in `X.append(…)` and the like."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in GROWS:
        return node.func.value if isinstance(node.func.value, ast.Name) else None
    return None
