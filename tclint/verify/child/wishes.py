"""What a condition that did not hold was about: the values on both its sides, where the program stood."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

from tclint.verify.child.blame import failing

_SAFE = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.Slice,
    ast.operator, ast.unaryop, ast.expr_context, ast.Call,
)  # fmt: skip
"""Expressions that can be asked again without doing anything a second time."""
_ASKING = frozenset({"len", "int", "size", "dim", "numel", "tuple", "list", "max", "min", "sum"})
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.Eq, ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE,
}  # fmt: skip
_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.GtE: ast.Lt,
}  # fmt: skip


@dataclass(frozen=True)
class Wish:
    """A number or a shape that there was, and the one that would have been right."""

    had: Any
    want: Any


def wishes(error: BaseException) -> list[Wish]:
    """What the condition asks for at which the error was raised: of either side that it be as the other wants it."""
    for frame, text in failing(error):
        try:
            found = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            return []
        negated = not isinstance(error, AssertionError)
        return list(dict.fromkeys(_wishes(found, frame, negated)))
    return []


def _wishes(node: ast.expr, frame: FrameType, negated: bool) -> Iterator[Wish]:
    if isinstance(node, ast.BoolOp):
        for part in node.values:
            yield from _wishes(part, frame, negated)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _wishes(node.operand, frame, not negated)
    elif negated and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        yield from _divided(node, frame)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        operator = _NEGATED.get(type(node.ops[0])) if negated else type(node.ops[0])
        if operator is ast.Eq and isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Mod):
            yield from _divided(node.left, frame)
        left, right = _value(node.left, frame), _value(node.comparators[0], frame)
        if operator is not None and left is not None and right is not None:
            yield from _between(operator, left, right)
            yield from _between(_OPPOSITE.get(operator, operator), right, left)


def _divided(node: ast.BinOp, frame: FrameType) -> Iterator[Wish]:
    """One number must divide another: the next that it does; or the next smaller that does."""
    whole, part = _value(node.left, frame), _value(node.right, frame)
    if type(whole) is int and type(part) is int and whole > 0 and part > 0 and whole % part:
        yield Wish(whole, -(-whole // part) * part)
        yield Wish(part, next(size for size in range(min(part, whole), 0, -1) if whole % size == 0))


def _between(operator: type[ast.cmpop], had: Any, other: Any) -> Iterator[Wish]:
    if operator is ast.Eq and had != other and type(had) is type(other):
        yield Wish(had, other)
    elif type(had) is int and type(other) is int:
        want = {ast.Lt: other - 1, ast.LtE: other, ast.Gt: other + 1, ast.GtE: other}.get(operator)
        if want is not None and want != had:
            yield Wish(had, want)


def _value(node: ast.expr, frame: FrameType) -> Any:
    """A number or a shape; None for everything else."""
    for part in ast.walk(node):
        if not isinstance(part, _SAFE):
            return None
        if isinstance(part, ast.Call):
            name = part.func.attr if isinstance(part.func, ast.Attribute) else getattr(part.func, "id", "")
            if name not in _ASKING or part.keywords:
                return None
    try:
        found = eval(compile(ast.Expression(node), "<condition>", "eval"), frame.f_globals, frame.f_locals)
    except Exception:
        # It fails for itself: nothing is known of it.
        return None
    if isinstance(found, (torch.Size, list, tuple)):
        return tuple(found) if all(type(size) is int for size in found) else None
    return found if type(found) is int else None
