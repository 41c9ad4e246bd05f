"""Objects that compiled code takes by their name."""

from __future__ import annotations

import ast

from tclint.events.kinds import Event
from tclint.events.queries import Frame
from tclint.values import Value


class Use(Event):
    """Compiled code reads an object, an iterator or a view by its name, to do something with it."""

    __slots__ = ("value",)
    kind = "use"
    subject = "value"

    def __init__(self, frame: Frame, node: ast.AST, value: Value) -> None:
        super().__init__(frame, node)
        self.value = value
