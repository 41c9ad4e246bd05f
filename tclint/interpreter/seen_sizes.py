"""Tests on a size of an argument: which way they go in the calls that are in sight."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.torch_facts import facts
from tclint.values import INPUT, RAW, Const, Scalar, Tensor, Value

_OPERATORS: Final[Mapping[type[ast.AST], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_RANKS: Final = facts.methods("counts the dimensions of a tensor")
_Number = Callable[[int], int]


def ways(frame: Frame, test: ast.expr) -> frozenset[bool]:
    """What a test of one size and numbers comes to, over the calls in sight; nothing where they do not tell."""
    evidence = frame.region.evidence if frame.region is not None else None
    if evidence is None:
        return frozenset()
    asked: set[tuple[str, int | None]] = set()
    with frame.interp.emitter.silence:
        number = _number(frame, test, asked)
    if number is None or len(asked) != 1:
        return frozenset()
    name, dim = asked.pop()
    sizes = evidence.sizes(name, dim) if dim is not None else [len(shape) for shape in evidence.shapes(name)]
    return frozenset(bool(number(size)) for size in sizes)


def _number(frame: Frame, node: ast.expr, asked: set[tuple[str, int | None]]) -> _Number | None:
    """How an expression follows from the one size that it asks for; the size goes to `asked`."""
    if isinstance(node, ast.BinOp):
        return _both(frame, node.op, node.left, node.right, asked)
    if isinstance(node, ast.Compare):
        return _both(frame, node.ops[0], node.left, node.comparators[0], asked) if len(node.ops) == 1 else None
    value = evaluate(frame, node)
    if isinstance(value, Const) and type(value.value) is int:
        constant = value.value
        return lambda size: constant
    ref = _rank(frame, node) or _size(value, node)
    if ref is None:
        return None
    asked.add(ref)
    return lambda size: size


def _both(
    frame: Frame, how: ast.AST, left: ast.expr, right: ast.expr, asked: set[tuple[str, int | None]]
) -> _Number | None:
    combine = _OPERATORS.get(type(how))
    a, b = _number(frame, left, asked), _number(frame, right, asked)
    if combine is None or a is None or b is None:
        return None
    if isinstance(how, (ast.Mod, ast.FloorDiv)):
        return lambda size: int(combine(a(size), b(size))) if b(size) else 0
    return lambda size: int(combine(a(size), b(size)))


def _rank(frame: Frame, node: ast.expr) -> tuple[str, None] | None:
    """The argument whose number of dimensions is asked for: `x.dim()`, `x.ndim`."""
    read = node.func if isinstance(node, ast.Call) and not node.args else node
    if not isinstance(read, ast.Attribute) or read.attr not in _RANKS:
        return None
    tensor = evaluate(frame, read.value)
    as_passed = isinstance(tensor, Tensor) and tensor.flags & (INPUT | RAW) == INPUT | RAW
    return (tensor.base, None) if isinstance(tensor, Tensor) and as_passed else None


def _size(value: Value, node: ast.expr) -> tuple[str, int] | None:
    """The argument and the dimension, where an expression reads a size as it is: `x.shape[0]`, and not what a name holds."""
    read = isinstance(node, (ast.Subscript, ast.Call))
    if not read or not isinstance(value, Scalar) or (value.type, value.source) != ("int", "size"):
        return None
    return value.ref
