"""Unary and binary operators."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter import exceptions
from tclint.interpreter.evaluate import evaluate, handles
from tclint.interpreter.expressions.conditions import negate
from tclint.interpreter.frame import Frame
from tclint.interpreter.overwrites import operands_read
from tclint.values import Const, Dict, Value, tensor_of
from tclint.values.operators import binary
from tclint.values.scalar import is_text_of_tensor

_DIVISIONS: Final = (ast.Div, ast.FloorDiv, ast.Mod)


def _unary(frame: Frame, node: ast.UnaryOp) -> Value:
    operator = type(node.op)
    if operator is ast.Not:
        return negate(frame, node.operand)
    return evaluate(frame, node.operand).unary(frame, node, operator.__name__)


def _bin_op(frame: Frame, node: ast.BinOp) -> Value:
    # A chain a + b + c … is left-deep: walk it without recursion, since generated code has chains of thousands.
    chain: list[ast.BinOp] = [node]
    left_node = node.left
    while type(left_node) is ast.BinOp:
        chain.append(left_node)
        left_node = left_node.left
    value = evaluate(frame, left_node)
    memory = frame.interp.graph_memory
    runs = memory.runs
    for link in reversed(chain):
        right = evaluate(frame, link.right)
        if memory.runs != runs:
            operands_read(frame, [(link.left, value)], runs)
            value = memory.later(value, runs)
            runs = memory.runs
        if type(right) is Const and right.value == 0 and type(link.op) in _DIVISIONS and exceptions.caught(frame):
            frame.interp.emitter.feature(frame, link, "division by zero")
        if (
            type(link.op) is ast.Add
            and frame.region is not None
            and (is_text_of_tensor(value) or is_text_of_tensor(right))
        ):
            frame.interp.emitter.feature(frame, link, "text of a tensor that is joined")
        if type(link.op) is ast.BitOr and type(value) is Dict and tensor_of(value.element()) is not None:
            frame.interp.emitter.feature(frame, link, "| of a dict with tensors")
        value = binary(frame, link, type(link.op).__name__, value, right)
    return value


handles(ast.UnaryOp, _unary)
handles(ast.BinOp, _bin_op)
