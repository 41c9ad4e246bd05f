"""What `super()` gives."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tclint.values.library import MODELS
from tclint.values.value import UNKNOWN, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.program import Class


class Super(Value):
    """`super()` in a method of the class `after`: attributes are looked up behind that class."""

    __slots__ = ("after", "instance", "key")

    def __init__(self, instance: Value, after: Class) -> None:
        self.instance = instance
        self.after = after
        self.key = ("S", instance.key, after.qualname)

    def __repr__(self) -> str:
        return f"Super({self.instance!r})"

    def attribute(self, frame: Frame, node: ast.AST, name: str, quiet: bool = False) -> Value:
        return frame.interp.objects.super_attribute(frame, node, self, name)

    def call_method(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        found = self.attribute(frame, node, name)
        if found is UNKNOWN:
            return MODELS.modules.inherited_method(frame, node, self, name, args, keywords)
        return found.call(frame, node, args, keywords, open_ended)
