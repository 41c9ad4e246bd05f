"""`left operator right`: the side of the higher rank answers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tclint.values.constant import FALSE, TRUE, Const
from tclint.values.value import OBJECT, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame


def binary(frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
    """The value of `left operator right`, the operator by the name of its node."""
    strongest = left if left.rank >= right.rank else right
    if strongest.rank <= OBJECT and (operator == "BitOr" or operator == "BitAnd"):
        absorbed = _absorbed(operator == "BitOr", left, right)
        if absorbed is not None:
            return absorbed
    return strongest.operate(frame, node, operator, left, right)


def _absorbed(absorbing: bool, left: Value, right: Value) -> Value | None:
    """`x | True` and `x & False`, whatever x is."""
    if type(left) is Const and type(right) is Const:
        return None
    if any(type(v) is Const and v.value is absorbing for v in (left, right)):
        return TRUE if absorbing else FALSE
    return None
