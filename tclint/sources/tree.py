"""Nodes of a tree: walking them, where they stand, what encloses them."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

Position = tuple[int, int, int, int]
"""First line and column, last line and column, as `ast` counts them."""

FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SCOPES: Final = (*FUNCTIONS, ast.ClassDef)

# Fields that never hold a node worth visiting: names, contexts, operators.
_SKIPPED: Final = frozenset(
    "arg attr asname conversion ctx id is_async kind level module op ops simple type_comment type_ignores".split()
)
_MIXED: Final = frozenset("keys kw_defaults kwd_attrs names".split())
"""Lists that may hold something beside nodes: names, and None for what is left out."""


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """By kind, the fields of nodes that may hold nodes."""

    __slots__ = ()

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        known = self[kind] = tuple(f for f in kind._fields if f not in _SKIPPED)
        return known


_CHILDREN: Final = _Fields({ast.Constant: ()})
_LISTS: Final = ("body", "handlers", "orelse", "finalbody", "cases")
_HOLDERS: Final[list[type[ast.AST]]] = [*ast.stmt.__subclasses__(), ast.Module, ast.ExceptHandler, ast.match_case]
_BLOCKS: Final = {kind: tuple(name for name in kind._fields if name in _LISTS) for kind in _HOLDERS}
"""The lists of statements that a node holds, or of what holds some."""
_IN_ORDER: Final[dict[type[ast.AST], str]] = {ast.BoolOp: "values", ast.Compare: "comparators"}
"""Lists of expressions that can be long, stand one after the other and have a place each."""
_MANY: Final = 16  # statements in a block, from which on looking for a line beats looking at each


def nodes(root: ast.AST) -> Iterator[ast.AST]:
    """`ast.walk` without operators and contexts, depth first and in no particular order: many times as fast."""
    stack = [root]
    pop, children = stack.pop, _CHILDREN
    while stack:
        node = pop()
        yield node
        # Written out: half of all nodes have nothing below, and a call for each costs more than looking at it.
        for name in children[type(node)]:
            value = getattr(node, name, None)
            if value is None:
                continue
            if type(value) is list:
                stack += value if name not in _MIXED else [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST):
                stack.append(value)


class Kinds(dict[type[ast.AST], list[Any]]):
    """Nodes by their kind."""

    __slots__ = ()

    def __missing__(self, kind: type[ast.AST]) -> list[Any]:
        return []


def kinds(root: ast.AST) -> Kinds:
    """What `nodes` gives, by kind: most questions are about a few kinds, and most nodes are of others."""
    found: defaultdict[type[ast.AST], list[Any]] = defaultdict(list)
    stack = [root]
    pop, children = stack.pop, _CHILDREN
    while stack:
        node = pop()
        kind = type(node)
        found[kind].append(node)
        for name in children[kind]:
            value = getattr(node, name, None)
            if value is None:
                continue
            if type(value) is list:
                stack += value if name not in _MIXED else [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST):
                stack.append(value)
    return Kinds(found)


by_kind = lru_cache(maxsize=64)(kinds)
"""The same, for a function: it is gone through for a dozen questions, most of them soon after each other."""


@lru_cache(maxsize=64)
def own_by_kind(root: ast.AST) -> Kinds:
    """What `own` gives, by kind, in no particular order; the root may be there, too."""
    found = by_kind(root)
    scopes = sum([len(found[kind]) for kind in _SCOPES])
    if scopes <= isinstance(root, _SCOPES):
        return found
    found = Kinds()
    for node in own(root):
        found.setdefault(type(node), []).append(node)
    return found


def holders(root: ast.AST) -> Iterator[ast.AST]:
    """Of `nodes`, in the same order, those that are statements or hold some: most nodes are parts of expressions."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        for name in _BLOCKS.get(type(node), ()):
            stack += getattr(node, name)


def own(root: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function or file in source order, without those of functions and classes inside it."""
    stack = below(root)[::-1]
    pop, children = stack.pop, _CHILDREN
    while stack:
        node = pop()
        yield node
        kind = type(node)
        if children[kind] and kind not in _SCOPES:
            found = below(node)
            found.reverse()
            stack += found


def below(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below one, in source order, without operators and contexts."""
    found: list[ast.AST] = []
    for name in _CHILDREN[type(node)]:
        value = getattr(node, name, None)
        if type(value) is list:
            found += value if name not in _MIXED else [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def yields(root: ast.AST) -> bool:
    """Whether a function is a generator."""
    within = by_kind(root)
    if ast.Yield not in within and ast.YieldFrom not in within:
        return False
    found = own_by_kind(root)
    return ast.Yield in found or ast.YieldFrom in found


def text(node: ast.AST | None) -> str:
    """The source of a node, as Python would write it."""
    return ast.unparse(node) if node is not None else ""


def names_read(roots: Iterable[ast.AST]) -> set[str]:
    return {n.id for root in roots for n in nodes(root) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def position(node: ast.AST) -> Position:
    return (
        getattr(node, "lineno", 0),
        getattr(node, "col_offset", 0),
        getattr(node, "end_lineno", 0),
        getattr(node, "end_col_offset", 0),
    )


def same(a: ast.AST, b: ast.AST) -> bool:
    """Whether two nodes stand at the same place: a file may have been parsed again in between."""
    return a is b or (type(a) is type(b) and position(a) == position(b))


def within(inner: ast.AST, outer: ast.AST) -> bool:
    a, b = position(inner), position(outer)
    return b[:2] <= a[:2] and a[2:] <= b[2:]


def ancestors(root: ast.AST, node: ast.AST) -> list[ast.AST]:
    """What encloses a node, outermost first, without the node; empty where it is not in there."""
    found: list[ast.AST] = []
    _descend(root, node, position(node), found)
    found.reverse()
    return found


def _descend(root: ast.AST, node: ast.AST, here: Position, found: list[ast.AST]) -> bool:
    for child in _children(root, here):
        first: int | None = getattr(child, "lineno", None)
        if first is not None:
            # Most siblings stand on other lines.
            if first > here[0] or child.end_lineno < here[2]:  # type: ignore[attr-defined]
                continue
            if same(child, node):
                found.append(root)
                return True
            place = position(child)
            if place[:2] > here[:2] or here[2:] > place[2:]:
                continue
        if _descend(child, node, here, found):
            found.append(root)
            return True
    return False


def _children(root: ast.AST, here: Position) -> Iterator[ast.AST]:
    """The children of a node, without those of long lists that stand elsewhere."""
    for name in root._fields:
        value = getattr(root, name, None)
        if isinstance(value, ast.AST):
            yield value
        elif isinstance(value, list):
            if len(value) > _MANY and (isinstance(value[0], ast.stmt) or name == _IN_ORDER.get(type(root))):
                yield from _at(value, here)
            else:
                for item in value:
                    if isinstance(item, ast.AST):
                        yield item


def _at(items: Sequence[ast.expr] | Sequence[ast.stmt], here: Position) -> Sequence[ast.AST]:
    """The last of some neighbours that begins at a place or before: none of them reaches into the next."""
    end = bisect_right(items, here[:2], key=_BEGINNING)
    return items[max(end - 1, 0) : end]


_BEGINNING: Final = attrgetter("lineno", "col_offset")


def index_in(block: Sequence[ast.stmt], statement: ast.stmt) -> int | None:
    """Which statement of a block a statement is."""
    here = bisect_left(block, position(statement)[:2], key=_BEGINNING)
    return here if here < len(block) and same(block[here], statement) else None


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements in a compound statement, a function, a class or a file."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block
    for handler in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield handler.body


def read_of_self(root: ast.AST) -> frozenset[str]:
    """The attributes of its receiver that a method reads."""
    arguments = getattr(root, "args", None)
    first = arguments.args[0].arg if isinstance(arguments, ast.arguments) and arguments.args else ""
    return frozenset(
        node.attr
        for node in by_kind(root)[ast.Attribute]
        if isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name) and node.value.id == first
    )


def bound_on_self(root: ast.AST) -> frozenset[str]:
    """The attributes that a method binds on its receiver."""
    arguments = getattr(root, "args", None)
    first = arguments.args[0].arg if isinstance(arguments, ast.arguments) and arguments.args else ""
    return frozenset(
        node.attr
        for node in by_kind(root)[ast.Attribute]
        if isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == first
    )


def turned(root: ast.AST) -> frozenset[str]:
    """The names below a node that loops bind, their own and those of their bodies: other ones in each turn."""
    found = by_kind(root)
    loops = [
        *found[ast.For],
        *found[ast.AsyncFor],
        *found[ast.While],
        *[each.target for each in found[ast.comprehension]],
    ]
    names = [name for loop in loops for name in by_kind(loop)[ast.Name]]
    return frozenset([name.id for name in names if type(name.ctx) is ast.Store])
