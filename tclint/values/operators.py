"""`left operator right`: the side of the higher rank answers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tclint.torch_facts import calls
from tclint.values.constant import FALSE, TRUE, Const
from tclint.values.value import OBJECT, UNKNOWN, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame


#: The method that answers for an operator, by the name of its node.
METHODS: Final = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "Div": "truediv",
    "FloorDiv": "floordiv",
    "Mod": "mod",
    "Pow": "pow",
    "LShift": "lshift",
    "RShift": "rshift",
    "BitAnd": "and",
    "BitOr": "or",
    "BitXor": "xor",
    "MatMult": "matmul",
    "USub": "neg",
    "UAdd": "pos",
    "Invert": "invert",
    "In": "contains",
    "NotIn": "contains",
    "Eq": "eq",
    "NotEq": "ne",
    "Lt": "lt",
    "LtE": "le",
    "Gt": "gt",
    "GtE": "ge",
}


def asked(frame: Frame, node: ast.AST, receiver: Value, name: str, operator: str, *args: Value) -> str:
    """Tell that an operator or a builtin asks an object of a class outside the program: a call of the method that answers.

    Where that method was never asked, nothing is told: that it may break like others of its class is no fact. Gives the
    class of the object that comes out, where one does.
    """
    full = f"{name}.__{METHODS.get(operator, operator)}__"
    key = calls.key_of(full)
    if frame.region is None or key is None:
        return ""
    frame.interp.emitter.call(frame, node, full, args, {}, receiver, UNKNOWN)
    answer = calls.answer(key, frame.interp.options.release)
    made = {form.result.type_name for form in answer.forms} if answer is not None else set()
    return made.pop() or "" if len(made) == 1 else ""


def binary(frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
    """The value of `left operator right`, the operator by the name of its node."""
    strongest = left if left.rank >= right.rank else right
    weaker = right if strongest is left else left
    if weaker.rank == OBJECT and weaker.is_code and strongest.rank > OBJECT and frame.region is not None:
        # The tensor decides what comes out; an object of the program is asked all the same.
        frame.interp.emitter.operation(frame, node, operator, left, right)
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
