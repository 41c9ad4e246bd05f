"""TCL118: comparing sequences that hold tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Event, Operation
from tclint.fixes.recipes import display
from tclint.model.finding import Effect, Finding, Fix, Severity
from tclint.ruleset.rule import Rule, whole_frame
from tclint.sources.tree import ancestors
from tclint.values import Scalar, Seq, Tensor, Value, tensor_of


class ListCompareTensors(Rule):
    """Comparing lists, tuples or shapes with a tensor among the elements: Python needs its value, and the graph ends.

    `assert list(scores.size()) == [batch, longest]` looks like a check of sizes; where `longest` came out of a tensor
    (`lengths.max()`) it is a comparison with data. With plain sizes and integers the comparison is free.

    Bad::

        def f(x: torch.Tensor, lengths: torch.Tensor):
            assert list(x.size()) == [x.shape[0], lengths.max()]
            return x * 2

    Good::

        def f(x, longest: int):
            assert list(x.size()) == [x.shape[0], longest]
            return x * 2

    Fix: compare sizes with sizes; take the number out of the tensor outside the region. Not applied by itself.
    """

    code, name = "TCL118", "list-compare-tensors"
    effect, severity = Effect.GRAPH_BREAK, Severity.LOW
    graph_breaks = ("GB6622",)

    def on_operation(self, event: Operation) -> Iterator[Finding]:
        if event.operator not in ("Eq", "NotEq"):
            return
        left, right = event.left, event.right
        if not (isinstance(left, Seq) and isinstance(right, Seq)):
            return
        tensor = _tensor_in(left) or _tensor_in(right)
        if tensor is None:
            return
        if self._raises(event, left, right):
            yield self.finding(
                event,
                "a shape is compared with a tensor that stays in the graph; torch.compile raises here",
                about=tensor,
                effect=Effect.ERROR,
                help="compare plain sizes",
            )
            return
        yield self.finding(
            event,
            f"sequences with a tensor among their elements are compared; Dynamo breaks the graph here{whole_frame(event)}",
            about=tensor,
            help="compare plain sizes",
        )

    def _raises(self, event: Operation, left: Seq, right: Seq) -> bool:
        """Whether sizes that the graph holds are compared where the answer decides: asked of torch 2.13."""
        if not self.captured(event, "capture_scalar_outputs"):
            return False
        sized = any(
            isinstance(item, Scalar) and item.source == "size" for side in (left, right) for item in _items(side)
        )
        chain = ancestors(event.module.tree, event.node)
        return sized and bool(chain) and isinstance(chain[-1], (ast.Assert, ast.If, ast.While, ast.IfExp))

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        return display("compare sizes with sizes", "take the number out of the tensor outside the region")


def _items(value: Seq) -> tuple[Value, ...]:
    return tuple(value.items) if value.items is not None else (value.elem,)


def _tensor_in(value: Seq) -> Tensor | None:
    return next((t for i in _items(value) if (t := tensor_of(i)) is not None), None)
