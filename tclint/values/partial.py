"""A function with some of its arguments already given."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tclint.timeline import guarded
from tclint.values.union import first_containing
from tclint.values.value import MAX_NESTING, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.timeline.guarded import Guarded
    from tclint.values.tensor import Tensor


class Partial(Value):
    """functools.partial."""

    __slots__ = ("_nesting", "args", "func", "key", "keywords")
    is_code = True

    def __init__(self, func: Value, args: tuple[Value, ...], keywords: Mapping[str, Value]) -> None:
        self.func = func
        self.args = args
        self.keywords = keywords
        inner = max([value.nesting() for value in (func, *args, *keywords.values())])
        self._nesting = inner + 1
        self.key: Any = ("p", "deep")
        if inner < MAX_NESTING:
            self.key = ("p", func.key, tuple(a.key for a in args), tuple((k, v.key) for k, v in keywords.items()))

    def __repr__(self) -> str:
        return f"Partial({self.func!r})"

    def nesting(self) -> int:
        return self._nesting

    def guarded(self) -> Guarded:
        given = [
            ("func", self.func),
            *((f"args[{i}]", each) for i, each in enumerate(self.args)),
            *self.keywords.items(),
        ]
        return guarded.Table("partial", tuple((name, value.guarded()) for name, value in given))

    def attribute(self, frame: Frame, node: ast.AST, name: str, quiet: bool = False) -> Value:
        frame.interp.emitter.feature(frame, node, f"{name} of a partial")
        return self.func if name == "func" else super().attribute(frame, node, name, quiet)

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        return self.func.call(frame, node, [*self.args, *args], {**self.keywords, **keywords}, open_ended)

    def contains(self, flag: int, depth: int = 3) -> Tensor | None:
        return first_containing((*self.args, *self.keywords.values()), flag, depth)

    def mapped(self, of: int, change: Callable[[Tensor], Tensor]) -> Value:
        if self.contains(of) is None:
            return self
        keywords = {name: value.mapped(of, change) for name, value in self.keywords.items()}
        return Partial(self.func, tuple(value.mapped(of, change) for value in self.args), keywords)

    def truth(self) -> bool | None:
        return True

    def bound_to(self, receiver: Value) -> Value:
        return Partial(self.func.bound_to(receiver), self.args, self.keywords)
