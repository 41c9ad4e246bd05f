"""What a place hangs on: tests on the way there of which nobody in sight says what they come to."""

from __future__ import annotations

import ast
from typing import Final, NamedTuple

from tclint.model.finding import Condition
from tclint.values.value import Value

_MOST: Final = 60
"""Characters of a test that are shown."""
_OPPOSITE: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


class Proviso(NamedTuple):
    """A test, and what it must come to; `choice` is what an expression must be, where it stands for one of several things.
    Without an expression that is what a site compiles."""

    path: str
    line: int
    node: ast.expr | None
    holds: bool
    choice: str = ""

    def told(self) -> Condition:
        """As people read it."""
        what = f"`{_test(self.node, self.holds)}`" if self.node is not None else "what is compiled"
        return Condition(self.path, self.line, f"{what} is a `{self.choice}`" if self.choice else what)


class Provided(Value):
    """The provisos of a place, outermost first. Where two ways meet, those of both stay."""

    __slots__ = ("key", "provisos")

    def __init__(self, provisos: tuple[Proviso, ...] = ()) -> None:
        self.provisos = provisos
        self.key = ("provided", provisos)

    def __repr__(self) -> str:
        return f"Provided({', '.join(each.told().text for each in self.provisos)})"

    def join_alike(self, other: Provided) -> Value:
        if self.provisos == other.provisos:
            return self
        return Provided(tuple([each for each in self.provisos if each in other.provisos]))

    def with_(self, proviso: Proviso) -> Provided:
        """And one more."""
        return self if proviso in self.provisos else Provided((*self.provisos, proviso))

    def without(self, nodes: frozenset[ast.AST]) -> Provided:
        """Without those that are about one of some tests."""
        return Provided(tuple([each for each in self.provisos if each.node not in nodes]))


NOTHING: Final = Provided()


def _test(node: ast.expr, holds: bool) -> str:
    if holds:
        return _short(node)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and (other := _OPPOSITE.get(type(node.ops[0]))):
        return _short(ast.Compare(node.left, [other()], node.comparators))
    return f"not {_short(node)}" if not isinstance(node, (ast.Compare, ast.BoolOp)) else f"not ({_short(node)})"


def _short(node: ast.expr) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"
