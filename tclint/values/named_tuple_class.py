"""A class that `collections.namedtuple` makes."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tclint.values.external import External
from tclint.values.sequence import Seq
from tclint.values.value import Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame

NAMED_TUPLE: Final = "tclint.namedtuple"
"""Any such class, whatever its fields are called."""


class NamedTupleClass(External):
    """A class of tuples of which names stand for the items."""

    __slots__ = ("fields",)

    def __init__(self, fields: tuple[str, ...]) -> None:
        super().__init__(NAMED_TUPLE)
        self.fields = fields
        self.key = ("e", NAMED_TUPLE, fields)

    def call(
        self,
        frame: Frame,
        node: ast.AST,
        args: Sequence[Value],
        keywords: Mapping[str, Value],
        open_ended: bool = False,
    ) -> Value:
        """`Pair(a, second=b)`: the items have their names where each of them is given."""
        made = super().call(frame, node, args, keywords, open_ended)
        given = {**dict(zip(self.fields, args, strict=False)), **keywords}
        if not isinstance(made, Seq) or made.items is None or len(args) > len(self.fields):
            return made
        if given.keys() != set(self.fields):
            return made
        return Seq("tuple", tuple(given[name] for name in self.fields)).named(self.fields)
