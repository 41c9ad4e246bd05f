"""A member of an enumeration of the program."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tclint.values.class_value import ClassValue
from tclint.values.constant import FALSE, TRUE, Const, fold_compare
from tclint.values.function import FunctionValue
from tclint.values.object import ENUM, Object
from tclint.values.origin import Origin
from tclint.values.scalar import INT
from tclint.values.value import Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.program import Class


class Member(Object):
    """`Mode.FAST`. `value` is what stands beside the name, unknown where that is not plain; `mixed` says that the member is
    that value as well: `class Mode(str, Enum)`."""

    __slots__ = ("cls", "mixed", "value")
    is_definition = True

    def __init__(self, cls: Class, name: str, value: Value, mixed: bool, origin: Origin) -> None:
        super().__init__(ENUM, origin, f"{cls.qualname}.{name}")
        self.cls = cls
        self.value = value
        self.mixed = mixed
        self.key = (*self.key, cls.module.path)

    def __repr__(self) -> str:
        return f"Member({self.kind})"

    @property
    def plain(self) -> Const | None:
        """What it is beside a member: the text or the number that it is compared as."""
        return self.value if self.mixed and type(self.value) is Const else None

    def attribute(self, frame: Frame, node: ast.AST, name: str, quiet: bool = False) -> Value:
        if name == "value" or name == "_value_":
            return self.value
        if name == "name" or name == "_name_":
            return Const(self.kind.rpartition(".")[2])
        method = frame.interp.classes.find_method(self.cls, name)
        if method is not None and frame.interp.classes.method_kind(method) == "property":
            return frame.interp.functions.call(frame, node, FunctionValue(method, self), [], {})
        return super().attribute(frame, node, name, quiet)

    def operate(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
        told = super().operate(frame, node, operator, left, right)
        # Only flags have these: what two make is no member with a name.
        return (
            INT
            if operator in ("BitOr", "BitAnd", "BitXor") and isinstance(left, Member) and isinstance(right, Member)
            else told
        )

    def compare(self, frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value | None:
        told = super().compare(frame, node, operator, left, right)
        if operator in ("Eq", "NotEq"):
            same = left.equals(right)
            if same is None or frame.interp.classes.find_method(self.cls, "__eq__") is not None:
                return told
            return TRUE if same is (operator == "Eq") else FALSE
        sides = [side.plain if isinstance(side, Member) else side for side in (left, right)]
        if all(type(side) is Const for side in sides):
            return fold_compare(operator, *(side.value for side in sides if type(side) is Const))
        return told

    def equals(self, other: Value) -> bool | None:
        if isinstance(other, Member):
            if self.cls is other.cls:
                return self.key == other.key or self._is_alias(other)
            mine, others = self.plain, other.plain
            return mine.equals(others) if mine is not None and others is not None else False
        if type(other) is Const:
            if self.mixed:
                return self.plain.equals(other) if self.plain is not None else None
            return False
        return None

    def _is_alias(self, other: Member) -> bool:
        """Whether two names stand for one member, which they do where they stand for the same value."""
        return type(self.value) is Const and self.value.equals(other.value) is True

    def truth(self) -> bool | None:
        if self.mixed:
            return self.plain.truth() if self.plain is not None else None
        return True

    def is_a(self, wanted: Value) -> bool | None:
        if isinstance(wanted, ClassValue) and wanted.cls is self.cls:
            return True
        return self.plain.is_a(wanted) if self.plain is not None else super().is_a(wanted)

    def decides_code(self) -> bool:
        return True
