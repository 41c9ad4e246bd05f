"""What an expression says of the names in it, as it is written."""

from __future__ import annotations

import ast


def asked_names(test: ast.expr) -> set[str]:
    """Names that a test asks as they are, `y == 0` or `y`: of a tensor of several elements Python would not know."""
    if isinstance(test, ast.BoolOp):
        return set[str]().union(*map(asked_names, test.values))
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return asked_names(test.operand)
    if isinstance(test, ast.Name):
        return {test.id}
    if not isinstance(test, ast.Compare) or isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        return set()
    sides = (test.left, *test.comparators)
    plain = all(isinstance(side, (ast.Name, ast.Constant, ast.Attribute)) for side in sides)
    return {side.id for side in sides if isinstance(side, ast.Name)} if plain else set()


def is_position(index: ast.expr) -> bool:
    """Whether an index is written as a number or a range: no key."""
    if isinstance(index, ast.UnaryOp):
        index = index.operand
    return isinstance(index, ast.Slice) or isinstance(index, ast.Constant) and type(index.value) is int


def joined_name(node: ast.expr) -> str:
    """The name of what is joined as it is, or a range of it: what a number takes out of a list may be a tensor, a range is a list."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
