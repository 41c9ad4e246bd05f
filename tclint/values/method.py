"""A method taken off a value, to be called later."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tclint.values.value import Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame


class Method(Value):
    """A method of a value that is not an object of the program: `x.view`, `out.append`, `logger.info`."""

    __slots__ = ("key", "name", "receiver")

    def __init__(self, receiver: Value, name: str) -> None:
        self.receiver = receiver
        self.name = name
        self.key = ("M", receiver.key, name)

    def __repr__(self) -> str:
        return f"Method({self.receiver!r}.{self.name})"

    def nesting(self) -> int:
        return self.receiver.nesting()

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        return self.receiver.call_method(frame, node, self.name, args, keywords, open_ended)
