"""TCL123: sparse and nested tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Attribute, Call, Operation, Return, SparseUse
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule, whole_frame
from tclint.torch_facts import calls, facts, features
from tclint.values import INPUT, PARAMETER, SPARSE, External, Seq, Tensor, Value

_MAKERS: Final = (*facts.named("makes a sparse or nested tensor"), *facts.named("is a type of sparse tensors"))
# What is heard where one comes into a graph.
_GIVEN: Final = "GB0015"


class SparseOrNested(Rule):
    """Sparse tensors and strided nested tensors cannot enter a graph.

    Making one in the region (`to_sparse`, `torch.sparse_coo_tensor`, `torch.nested.nested_tensor`) ends the graph, and so
    does each use of one that was made elsewhere: an operator, a function, a method, its `shape`. Nested tensors with `layout=torch.jagged` are fine.

    Bad::

        def f(x):
            return x.to_sparse().sum()

    Good::

        def f(x):
            return x.sum()

    Fix: keep sparse work outside the region, or use `layout=torch.jagged`.
    """

    code, name = "TCL123", "sparse-or-nested"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    graph_breaks = ("GB0277", "GB0015", "GB0374", "GB0090", "GB0016")
    calls = (*_MAKERS, *facts.named("is of sparse and nested tensors"))
    subjects = {"attribute": (Tensor,), "return": (Tensor, Seq)}
    owns = facts.named("is of sparse and nested tensors")

    def __init__(self) -> None:
        super().__init__()
        self._left: dict[tuple[str, str], int] = {}
        """Functions that Dynamo has left, with the line: what is read off a sparse tensor sends all that follows to eager."""

        self._met: set[tuple[str, str]] = set()
        """Functions in which one has come into a graph: behind that they run eagerly."""

    def on_attribute(self, event: Attribute) -> Iterator[Finding]:
        yield from self._used(event, event.receiver)

    def on_operation(self, event: Operation) -> Iterator[Finding]:
        yield from self._used(event, event.left, event.right)

    def on_sparse_use(self, event: SparseUse) -> Iterator[Finding]:
        yield from self._used(event, event.tensor)

    def on_return(self, event: Return) -> Iterator[Finding]:
        node = event.node.value if isinstance(event.node, ast.Return) else None
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        values = event.value.items or () if isinstance(event.value, Seq) else (event.value,)
        function = event.enclosing
        left = (event.module.path, function.qualname if function is not None else "") in self._met
        if event.at_entry and len(parts) == len(values) and not left:
            # One that is made on the spot goes straight to who called.
            yield from self._used(event, *(v for v, p in zip(values, parts, strict=True) if isinstance(p, ast.Name)))

    def _used(self, event: Attribute | Operation | SparseUse | Return, *values: Value | None) -> Iterator[Finding]:
        """One that was made elsewhere comes into the graph where it is used: each use ends it."""
        line = getattr(event.node, "lineno", 0)
        used = next((v for v in values if isinstance(v, Tensor) and v.flags & SPARSE and v.origin.line != line), None)
        made = calls.verdict("Tensor.to_sparse", self.release)
        if used is None or made is not None and made.breaks == "never" and not self._is_refused(used):
            return  # the last for a release that keeps sparse tensors in its graphs
        function = event.enclosing
        place = (event.module.path, function.qualname if function is not None else "")
        self._met.add(place)
        if self._left.get(place, line) < line:
            return
        if isinstance(event, Attribute) or isinstance(event, SparseUse) and event.by_method:
            self._left[place] = min(line, self._left.get(place, line))
        yield self.finding(
            event,
            f"a sparse or nested tensor is used; Dynamo breaks the graph here{whole_frame(event)}",
            about=used,
            graph_breaks=self.ids(_GIVEN),
            help="keep it outside the compiled region, or make it dense before",
        )

    def _is_refused(self, tensor: Tensor) -> bool:
        """Whether a tensor comes from outside, and the release takes in none that is sparse."""
        outside = tensor.flags & (INPUT | PARAMETER)
        return bool(outside) and features.broken("sparse tensor that comes in", self.release) is not None

    def on_call(self, event: Call) -> Iterator[Finding]:
        if event.name not in _MAKERS:
            return  # what works on such tensors is told where it is given one
        verdict = self.verdict(event)
        if event.name.startswith("Tensor.") and verdict is not None and verdict.breaks == "never":
            return
        layout = event.keywords.get("layout")
        if isinstance(layout, External) and layout.name == "torch.jagged":
            return
        about = event.receiver if isinstance(event.receiver, Tensor) else None
        yield self.finding(
            event,
            f"`{event.method}` makes or uses a sparse or nested tensor; Dynamo breaks the graph here{whole_frame(event)}"
            f"{self.span(event) if event.name.startswith('Tensor.') else ''}",
            about=about,
            confidence=None if about is not None else Confidence.HIGH,
            help="keep it outside the compiled region",
        )
