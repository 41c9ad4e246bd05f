"""Something outside the program, by its dotted name."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tclint.timeline import guarded
from tclint.torch_facts import facts
from tclint.torch_facts.dtypes import DTYPES
from tclint.values.library import MODELS
from tclint.values.value import Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.timeline.guarded import Guarded

_SUBSCRIPTED: Final = frozenset(facts.named("is subscripted, and no type"))

_DTYPE: Final = "torch.dtype()"
"""The dtype of a tensor, whichever it is."""


class External(Value):
    """A module, class, function or constant outside the program, by its dotted name."""

    __slots__ = ("key", "name")
    is_definition = True
    is_code = True
    is_outside = True

    def __init__(self, name: str) -> None:
        self.name = name
        self.key = ("e", name)

    def __repr__(self) -> str:
        return f"External({self.name})"

    def attribute(self, frame: Frame, node: ast.AST, name: str, quiet: bool = False) -> Value:
        return frame.interp.names.external_attribute(self, name)

    def truth(self) -> bool | None:
        return True if self.name in DTYPES or facts.callable_somewhere(self.name) else None

    def is_none(self) -> bool | None:
        # A class that is imported is there: where its package is missing, the program is another one.
        if self.name.rpartition(".")[2][:1].isupper():
            return False
        return False if self.truth() else None

    def guarded(self) -> Guarded:
        return guarded.Exact(self.key, self.name)

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        return MODELS.functions.call(frame, node, self.name, args, keywords, open_ended)

    def call_method(
        self,
        frame: Frame,
        node: ast.AST,
        name: str,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        if self.name == _DTYPE or self.name in DTYPES:
            return MODELS.functions.call(frame, node, f"dtype.{name}", args, keywords, open_ended)
        return frame.interp.names.external_attribute(self, name).call(frame, node, args, keywords, open_ended)

    def item(self, frame: Frame, node: ast.AST, index: Value) -> Value:
        if self.name in _SUBSCRIPTED:
            return MODELS.functions.call(frame, node, f"{self.name}.__getitem__", (index,), {}, False)
        return self  # a generic alias: list[int]
