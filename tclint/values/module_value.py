"""A module of the program."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tclint.values.namespace import Namespace
from tclint.values.value import Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.program import Module


class ModuleValue(Value):
    """A module of the program, as an object."""

    __slots__ = ("key", "module")

    def __init__(self, module: Module) -> None:
        self.module = module
        self.key = ("m", module.name, module.path)

    def __repr__(self) -> str:
        return f"Module({self.module.name})"

    def attribute(self, frame: Frame, node: ast.AST, name: str, quiet: bool = False) -> Value:
        return Namespace(self.module) if name == "__dict__" else frame.interp.names.attribute(self.module, name)

    def call_method(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        return self.attribute(frame, node, name).call(frame, node, args, keywords, open_ended)

    def truth(self) -> bool | None:
        return True
