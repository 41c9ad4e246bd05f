"""State outside a call that changes from call to call: module-level names, captured variables, attributes of modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tclint.program import Assignment, Function, Module
from tclint.rules._scope import FUNCTIONS, bound, own
from tclint.values import Instance, Scalar

if TYPE_CHECKING:
    from tclint.events import Event

GROWS = frozenset(
    {"append", "appendleft", "extend", "insert", "add", "update", "setdefault", "pop", "popleft", "clear"}
)
SETTLING = (bool, float, complex)
"""Constants that cost one program more at most: a flag has two values, a float becomes dynamic."""


def changed_globals(module: Module) -> dict[str, ast.expr | None]:
    """The module-level names that functions of the file change, as `X`, `X["key"]`, `X.attr`, or `X()` where it grows or
    shrinks; with what they are bound to at first, where that can be read."""
    known = module.facts.get("changed globals")
    if known is None:
        known = module.facts["changed globals"] = _find_changes(module)
    assert isinstance(known, dict)
    return known


def changed_captures(function: Function) -> dict[str, ast.expr | None]:
    """The same for the variables that a function captures: what the functions beside it do to them."""
    if function.parent is None:
        return {}
    key = f"changed captures {function.qualname} {function.node.lineno}"
    known = function.module.facts.get(key)
    if known is None:
        known = function.module.facts[key] = _find_captures(function, function.parent)
    assert isinstance(known, dict)
    return known


def _find_captures(function: Function, outer: Function) -> dict[str, ast.expr | None]:
    names = {name: _first_value(outer.node, name) for name in bound(outer) - bound(function)}
    found: dict[str, ast.expr | None] = {}
    for node in ast.walk(outer.node):
        if isinstance(node, FUNCTIONS) and node is not outer.node:
            for name in _changes_in(node, set(names), ast.Nonlocal):
                found[name] = _value_of(name, names.get(_root(name)))
    return found


def reads(function: ast.AST, changed: dict[str, ast.expr | None]) -> Iterator[tuple[str, ast.expr]]:
    """Where a function reads something that changes: NAME, NAME["key"] or NAME.attr."""
    nodes = list(ast.walk(function))
    declared = {name for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    mine = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} - declared
    mine |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    grown = {id(_grown(node)) for node in nodes}
    for node in nodes:
        for name in _names_read(node):
            if name in changed and _root(name) not in mine and id(node) not in grown:
                assert isinstance(node, ast.expr)
                yield name, node
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id in declared:
            if node.target.id in changed:
                yield node.target.id, node.target


def settles(value: ast.expr | None) -> bool:
    """Whether a name that is first bound to this costs no more than one program when it changes: a flag, a float, a tensor."""
    if isinstance(value, ast.Constant):
        return value.value is None or isinstance(value.value, SETTLING)
    if isinstance(value, ast.UnaryOp):
        return settles(value.operand)
    return isinstance(value, ast.Call) and ast.unparse(value.func).startswith(("torch.", "nn."))


def changing(event: Event, node: ast.AST) -> str:
    """The state in an expression of compiled code that changes from call to call, as it stands there; or nothing."""
    frame = event.frame
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            owner = frame.env.get(part.value.id)
            if isinstance(owner, Instance) and _varies(event, owner, part.attr):
                return ast.unparse(part)
    function = frame.function
    if function is None or not any(isinstance(part, ast.Name) for part in ast.walk(node)):
        return ""
    changed = changed_globals(frame.module)
    if function.parent is not None:
        changed = {**changed, **changed_captures(function)}
    if changed:
        wanted = {id(part) for part in ast.walk(node)}
        for _, place in reads(function.node, changed):
            if id(place) in wanted:
                return ast.unparse(place)
    return ""


def _varies(event: Event, owner: Instance, name: str) -> bool:
    if (owner.cls.module.path, owner.cls.qualname, name) in event.frame.interp.learned.rebound:
        return True
    held = event.frame.interp.instance_attributes.of(owner).get(name)
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


def _value_of(name: str, value: ast.expr | None) -> ast.expr | None:
    """What `X["key"]` is bound to, where X is bound to a dict that can be read."""
    if "[" in name and isinstance(value, ast.Dict):
        for key, held in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and name == f"{_root(name)}[{key.value!r}]":
                return held
    return value if name == _root(name) else None


def _first_value(function: ast.AST, name: str) -> ast.expr | None:
    for node in own(function):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            assert isinstance(node, (ast.Assign, ast.AnnAssign))
            return node.value
    return None


def _find_changes(module: Module) -> dict[str, ast.expr | None]:
    names = {n: d for n, d in module.names.items() if isinstance(d, Assignment)}
    found: dict[str, ast.expr | None] = {}
    # Most functions change no global: their text says so faster than their tree.
    lines = [module.data.count(b"\n", 0, place) + 1 for place in _suspects(module.data, set(names))]
    if lines:
        for function in module.functions:
            first, end = function.lines
            if any(first <= line <= end for line in lines):
                for name in _changes_in(function.node, set(names), ast.Global):
                    found[name] = _value_of(name, _first_value(ast.Module(module.tree.body, []), _root(name)))
    return found


_STORED = re.compile(rb"(?:\[[^\]\n]*\]|\.\w+)[ \t]*[-+*/|]?=(?!=)|\.(?:" + "|".join(sorted(GROWS)).encode() + rb")\(")


def _suspects(data: bytes, names: set[str]) -> Iterator[int]:
    """Where an indented line starts with `global` or with a change of one of the names."""
    for word in (b"global ", *(name.encode() for name in sorted(names))):
        place = data.find(word)
        while place >= 0:
            before = data[data.rfind(b"\n", 0, place) + 1 : place]
            if before and not before.strip(b" \t") and (word == b"global " or _STORED.match(data, place + len(word))):
                yield place
            place = data.find(word, place + len(word))


def _changes_in(
    function: ast.AST, names: set[str], declaration: type[ast.Global] | type[ast.Nonlocal]
) -> Iterator[str]:
    """What a function changes of names that are not its own."""
    nodes = list(ast.walk(function))
    local = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    declared = {n for d in nodes if isinstance(d, declaration) for n in d.names}
    foreign = names - (local - declared)
    for node in nodes:
        grown = _grown(node)
        if grown is not None and grown.id in foreign:
            yield f"{grown.id}()"
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name) and target.id in declared & names:
                yield target.id
            elif isinstance(target, (ast.Subscript, ast.Attribute)) and isinstance(target.value, ast.Name):
                if target.value.id not in foreign:
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
