"""Numbers that make an assertion hold: `assert heads * head_dim == dim`, `assert dim % heads == 0`."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
LARGEST = 1 << 16


def solved(line: str, values: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Changes of one number each, after which the condition of an `assert` holds: by what it is compared with."""
    try:
        statement = ast.parse(line.strip()).body[0]
    except (SyntaxError, ValueError, IndexError):
        return
    if not isinstance(statement, ast.Assert):
        return
    test = statement.test
    for part in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]:
        yield from _by_comparison(part, values)


def _by_comparison(test: ast.expr, values: Mapping[str, int]) -> Iterator[dict[str, int]]:
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return
    left, right = test.left, test.comparators[0]
    for side, other in ((left, right), (right, left)):
        size = _value(other, values)
        if size is None:
            continue
        if (name := _name(side)) in values:
            yield from _change(name, size, values)
        elif isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mod) and size == 0:
            yield from _multiple(side, values)
        elif isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult):
            yield from _factor(side, size, values)


def _change(name: str, size: int, values: Mapping[str, int]) -> Iterator[dict[str, int]]:
    if 0 < size <= LARGEST and values[name] != size:
        yield {name: size}


def _multiple(side: ast.BinOp, values: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """What is divided becomes the next multiple; or what divides it, one of its factors."""
    whole, part = _value(side.left, values), _value(side.right, values)
    if whole is None or not part:
        return
    if (name := _name(side.left)) in values:
        yield from _change(name, max(1, -(-whole // part)) * part, values)
    if (name := _name(side.right)) in values:
        yield from _change(name, next(size for size in range(min(part, whole), 0, -1) if whole % size == 0), values)


def _factor(side: ast.BinOp, product: int, values: Mapping[str, int]) -> Iterator[dict[str, int]]:
    for one, other in ((side.left, side.right), (side.right, side.left)):
        factor = _value(other, values)
        if (name := _name(one)) in values and factor and product % factor == 0:
            yield from _change(name, product // factor, values)


def _name(node: ast.expr) -> str:
    """`dim`, and `self.dim` for what was kept under its own name."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _value(node: ast.expr, values: Mapping[str, int]) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _value(node.left, values), _value(node.right, values)
        if left is None or right is None or abs(left) > LARGEST or abs(right) > LARGEST:
            return None
        if isinstance(node.op, ast.Pow) and not 0 <= right <= 8:
            return None
        try:
            return _OPERATORS[type(node.op)](left, right)
        except ZeroDivisionError:
            return None
    return values.get(_name(node))
