"""TCL123: sparse and nested tensors."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Call
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule, whole_frame
from tclint.torch_facts import calls, facts
from tclint.values import SPARSE, External, Tensor


class SparseOrNested(Rule):
    """Sparse tensors and strided nested tensors cannot enter a graph.

    Making one in the region (`to_sparse`, `torch.sparse_coo_tensor`, `torch.nested.nested_tensor`) ends the graph, and so
    does passing one in. Nested tensors with `layout=torch.jagged` are fine.

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
    calls = (*facts.named("makes a sparse or nested tensor"), *facts.named("reads a sparse or nested tensor"))
    owns = facts.named("is of sparse and nested tensors")

    def on_call(self, event: Call) -> Iterator[Finding]:
        verdict = self.verdict(event)
        if event.name.startswith("Tensor.") and verdict is not None and verdict.breaks == "never":
            return
        if event.name.startswith("torch.sparse."):
            if not any(isinstance(a, Tensor) and a.flags & SPARSE for a in event.args):
                return
            made = calls.verdict("Tensor.to_sparse", self.release)
            if made is not None and made.breaks == "never":
                return  # a release that keeps sparse tensors in its graphs
        if event.name in facts.named("reads a sparse or nested tensor"):
            if not (isinstance(event.receiver, Tensor) and event.receiver.flags & SPARSE):
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
