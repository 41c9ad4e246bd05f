"""A class of the program."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tclint.timeline import guarded
from tclint.values.value import Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.program import Class
    from tclint.timeline.guarded import Guarded


class ClassValue(Value):
    """A class of the program, as an object."""

    __slots__ = ("cls", "key")
    is_definition = True
    is_code = True

    def __init__(self, cls: Class) -> None:
        self.cls = cls
        self.key = ("C", cls.qualname, cls.module.name, cls.module.path)

    def __repr__(self) -> str:
        return f"Class({self.cls.qualname})"

    def attribute(self, frame: Frame, node: ast.AST, name: str, quiet: bool = False) -> Value:
        return frame.interp.classes.attribute(frame, node, self.cls, name)

    def turns(self, frame: Frame, node: ast.AST, most: int, later: int) -> tuple[Sequence[Value], bool]:
        """The members of an enumeration."""
        members = frame.interp.classes.members(frame, node, self.cls)
        return (members[:most], len(members) <= most) if members else super().turns(frame, node, most, later)

    def known_items(self, frame: Frame) -> tuple[Value, ...] | None:
        items, exact = self.turns(frame, self.cls.node, 64, 0)
        return tuple(items) if exact else None

    def guarded(self) -> Guarded:
        return guarded.Exact(self.key, self.cls.name)

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        return frame.interp.objects.construct(frame, node, self.cls, args, keywords, open_ended)

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

    def item(self, frame: Frame, node: ast.AST, index: Value) -> Value:
        member = frame.interp.classes.member(frame, node, self.cls, index)
        return member if member is not None else self  # a generic alias: Foo[T]

    def truth(self) -> bool | None:
        return True

    def is_none(self) -> bool | None:
        return False
