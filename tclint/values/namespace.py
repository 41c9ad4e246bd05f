"""The names of a module of the program, as a dict: `vars(models)`, `models.__dict__`, `globals()`."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tclint.values.constant import Const
from tclint.values.value import UNKNOWN, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.program import Module


class Namespace(Value):
    """The dict behind a module: a name that is known gives what stands under it, any other may give anything."""

    __slots__ = ("key", "module")

    def __init__(self, module: Module) -> None:
        self.module = module
        self.key = ("names", module.name, module.path)

    def __repr__(self) -> str:
        return f"Namespace({self.module.name})"

    def item(self, frame: Frame, node: ast.AST, index: Value) -> Value:
        if isinstance(index, Const) and isinstance(index.value, str):
            return frame.interp.names.attribute(self.module, index.value)
        return UNKNOWN

    def call_method(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        if name != "get" or not args:
            return UNKNOWN
        # What the text of a module does not bind somebody else may: then it is not what `get` has for that case either.
        return self.item(frame, node, args[0])

    def has(self, element: Value) -> bool | None:
        if (
            isinstance(element, Const)
            and isinstance(element.value, str)
            and self.module.named(element.value) is not None
        ):
            return True
        return None

    def truth(self) -> bool | None:
        return True
