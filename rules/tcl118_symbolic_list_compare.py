"""TCL118: comparing lists of sizes or tensors."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Operation
from tclint.finding import Confidence, Effect, Finding, Severity
from tclint.rule import Rule, whole_frame
from tclint.values import Scalar, Seq, Value, tensor_of


class SymbolicListCompare(Rule):
    """`list(x.size()) == [a, b]` compares lists whose elements are symbolic; Dynamo cannot, and ends the graph.

    Tuples and `x.shape == (a, b)` are fine. So is a list of plain constants. A list with a tensor in it always breaks.

    Bad::

        def f(x, heads: int):
            assert list(x.size()) == [heads, x.shape[1]]
            return x * 2

    Good::

        def f(x, heads: int):
            assert tuple(x.shape) == (heads, x.shape[1])
            return x * 2

    Fix: compare tuples, or sizes one by one.
    """

    code, name = "TCL118", "symbolic-list-compare"
    effect, severity = Effect.GRAPH_BREAK, Severity.LOW
    graph_breaks = ("GB6622",)

    def on_operation(self, event: Operation) -> Iterator[Finding]:
        if event.operator not in ("Eq", "NotEq"):
            return
        left, right = event.left, event.right
        if not (_is_list(left) and _is_list(right)):
            return
        kinds = {_content(left), _content(right)}
        if "tensor" in kinds:
            confidence = Confidence.HIGH
        elif kinds == {"size"} or kinds == {"size", "?"}:
            # Sizes are symbolic only once they have varied.
            confidence = Confidence.MEDIUM
        else:
            return
        yield self.finding(
            event,
            f"lists of sizes or tensors are compared; Dynamo cannot, and breaks the graph{whole_frame(event)}",
            confidence=confidence,
            help="compare tuples",
        )


def _is_list(value: Value) -> bool:
    return isinstance(value, Seq) and value.kind == "list"


def _content(value: Value) -> str:
    assert isinstance(value, Seq)
    items = value.items if value.items is not None else (value.elem,)
    if any(tensor_of(i) is not None for i in items):
        return "tensor"
    if any(isinstance(i, Scalar) and i.source == "size" for i in items):
        return "size"
    return "?"
