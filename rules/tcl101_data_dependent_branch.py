"""TCL101."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Branch
from tclint.finding import Effect, Finding, Severity
from tclint.rule import Rule, whole_frame
from tclint.values import CONSTANT, ARRAY, Tensor, tensor_of


class DataDependentBranch(Rule):
    """`if` on a tensor's value."""

    code, name = "TCL101", "data-dependent-branch"
    effect, severity = Effect.GRAPH_BREAK, Severity.HIGH
    graph_breaks = ("GB0170",)

    def on_branch(self, event: Branch) -> Iterator[Finding]:
        tensor = tensor_of(event.test)
        if tensor is None:
            return
        yield self.finding(event, f"`{event.keyword}` on a tensor: Dynamo breaks the graph here{whole_frame(event)}", about=tensor, help="use torch.where")
