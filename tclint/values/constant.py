"""A Python constant whose value is known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tclint.timeline import guarded
from tclint.values.external import External
from tclint.values.library import MODELS
from tclint.values.method import Method
from tclint.values.scalar import BOOL, FLOAT, INT, ITSELF, STR, Scalar, few, number_arithmetic, scalar_type
from tclint.values.types import is_of
from tclint.values.value import NUMBER, UNKNOWN, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.timeline.guarded import Guarded
    from tclint.values.origin import Origin


_TOLD_APART: Final = frozenset({"str"})
"""Types of which a few values stay known where they meet: numbers are counted with."""


class Const(Value):
    """A Python constant whose value is known."""

    __slots__ = ("key", "value")
    rank = NUMBER

    def __init__(self, value: Any) -> None:
        self.value = value
        self.key = ("c", type(value).__name__, value)

    def __repr__(self) -> str:
        return f"Const({self.value!r})"

    @property
    def python_type(self) -> str:
        return scalar_type(self.value)

    def attribute(self, frame: Frame, node: ast.AST, name: str, quiet: bool = False) -> Value:
        return Method(self, name)

    def call_method(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        return MODELS.texts.call_method(frame, node, self, name, args, keywords)

    def item(self, frame: Frame, node: ast.AST, index: Value) -> Value:
        if isinstance(self.value, str) and isinstance(index, Const) and type(index.value) is int:
            return Const(self.value[index.value]) if -len(self.value) <= index.value < len(self.value) else UNKNOWN
        return STR if isinstance(self.value, str) else UNKNOWN

    def known_length(self) -> int | None:
        return len(self.value) if isinstance(self.value, (str, bytes)) else None

    def turns(self, frame: Frame, node: ast.AST, most: int, later: int) -> tuple[Sequence[Value], bool]:
        if not isinstance(self.value, str):
            return super().turns(frame, node, most, later)
        return [Const(letter) for letter in self.value[:most]], len(self.value) <= most

    def has(self, element: Value) -> bool | None:
        if isinstance(self.value, str) and isinstance(element, Const) and isinstance(element.value, str):
            # Of a version the numbers are known, and not what a build adds to them: `"dev" in torch.__version__`.
            return element.value in self.value if type(self.value) is str else None
        return None

    def equals(self, other: Value) -> bool | None:
        return bool(self.value == other.value) if type(other) is Const else None

    def unary(self, frame: Frame, node: ast.AST, operator: str) -> Value:
        if isinstance(self.value, (int, float)):
            if operator == "USub":
                return Const(-self.value)
            if operator == "UAdd":
                return self
            if operator == "Abs":
                return Const(abs(self.value))
            if operator == "Invert" and isinstance(self.value, int):
                return Const(~int(self.value))
        return UNKNOWN

    def operate(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
        if type(left) is Const and type(right) is Const:
            return _fold(operator, left.value, right.value)
        if left.rank == NUMBER == right.rank:
            return number_arithmetic(frame, node, operator, left, right)
        if operator == "Mod" and left is self and isinstance(self.value, str):
            return STR
        return UNKNOWN

    def compare(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value | None:
        if type(left) is Const and type(right) is Const:
            return fold_compare(operator, left.value, right.value)
        return None

    def truth(self) -> bool | None:
        return bool(self.value)

    def is_none(self) -> bool | None:
        return self.value is None

    def may_be_none(self) -> bool:
        return self.value is None

    def is_a(self, wanted: Value) -> bool | None:
        name = wanted.name if isinstance(wanted, External) else ""
        if self.value is None:
            return name == "types.NoneType" if name else False
        return is_of("str" if isinstance(self.value, str) else type(self.value).__name__, name)

    def guarded(self) -> Guarded:
        if type(self.value) in (int, float):
            return guarded.Number(self.value)
        return guarded.Exact(self.key, f"{self.value!r}")

    def as_input(self, name: str, origin: Origin) -> Value:
        if type(self.value) in (int, float):
            return Scalar(scalar_type(self.value), "arg", origin, (name, ITSELF))
        return self

    def join_alike(self, other: Const) -> Value | None:
        if self.key == other.key:
            return self
        if self.value is None or other.value is None:
            return None
        a, b = scalar_type(self.value), scalar_type(other.value)
        if a == b and a != "other":
            return Scalar(a, among=few((self.value,), (other.value,)) if a in _TOLD_APART else ())
        if {a, b} <= {"int", "float", "bool"}:
            return Scalar("number")
        return None

    def widen(self) -> Value:
        if self.value is None:
            return self
        kind = scalar_type(self.value)
        return Scalar(kind) if kind != "other" else UNKNOWN


NONE: Final = Const(None)
TRUE: Final = Const(True)
FALSE: Final = Const(False)


_TEXTS: Final = (str, bytes)
_MAX_TEXT: Final = 1 << 16
"""Longer texts are not built: `y = y + y` in a row doubles with every step."""
_BITWISE: Final[dict[str, Callable[[int, int], int]]] = {
    "BitAnd": lambda a, b: a & b,
    "BitOr": lambda a, b: a | b,
    "BitXor": lambda a, b: a ^ b,
    "LShift": lambda a, b: a << b,
    "RShift": lambda a, b: a >> b,
}


def _fold(operator: str, a: Any, b: Any) -> Value:
    """`a operator b` as a constant; where that would be too large, its type."""
    try:
        if operator == "Add" and not (isinstance(a, _TEXTS) and isinstance(b, _TEXTS) and len(a) + len(b) > _MAX_TEXT):
            return Const(a + b)
        if operator == "Sub":
            return Const(a - b)
        if operator == "Mult":
            if isinstance(a, (str, bytes, int)) and isinstance(b, (str, bytes, int)) and _large(a, b):
                return INT if isinstance(a, int) and isinstance(b, int) else STR
            return Const(a * b)
        if operator == "Div":
            return Const(a / b)
        if operator == "FloorDiv":
            return Const(a // b)
        if operator == "Mod" and not isinstance(a, (str, bytes)):
            return Const(a % b)
        if operator in _BITWISE and isinstance(a, int) and isinstance(b, int) and 0 <= b < 64:
            return Const(_BITWISE[operator](a, b))
        if operator == "Pow" and abs(b) <= 64 and abs(a) <= 2**16:
            return Const(a**b)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return UNKNOWN
    kinds = {scalar_type(a), scalar_type(b)}
    if kinds == {"int"}:
        return INT
    if kinds <= {"int", "float"}:
        return FLOAT
    return STR if "str" in kinds else UNKNOWN


def _large(a: Any, b: Any) -> bool:
    if isinstance(a, int) and isinstance(b, int):
        return a.bit_length() + b.bit_length() > 512
    text, times = (a, b) if isinstance(b, int) else (b, a)
    return isinstance(times, int) and len(text) * max(times, 0) > 4096


def fold_compare(operator: str, a: Any, b: Any) -> Value:
    """`a operator b` of two Python values that are known."""
    try:
        if operator == "Eq":
            return TRUE if a == b else FALSE
        if operator == "NotEq":
            return TRUE if a != b else FALSE
        if operator == "Lt":
            return TRUE if a < b else FALSE
        if operator == "LtE":
            return TRUE if a <= b else FALSE
        if operator == "Gt":
            return TRUE if a > b else FALSE
        return TRUE if a >= b else FALSE
    except TypeError:
        return BOOL


def is_none(value: Value) -> bool:
    """Whether a value is surely None."""
    return type(value) is Const and value.value is None
