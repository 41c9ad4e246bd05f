"""TCL106: reading through a boolean mask."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Event, Store, Subscript
from tclint.finding import Effect, Finding, Severity
from tclint.rule import Rule, whole_frame
from tclint.values import Seq, Tensor, Value, tensor_of


class BooleanMaskRead(Rule):
    """`x[mask]` as a value has as many rows as the mask has trues: its shape depends on the data.

    Dynamo ends the graph (the read goes through `nonzero`). `x[mask] += 1` reads as well as writes, and breaks too.
    `x[mask] = 0` does not break (see TCL302 for what assigning a tensor costs under CUDA graphs).

    Bad::

        def f(x, valid: torch.BoolTensor):
            return x[valid].mean()

    Good::

        def f(x, valid: torch.BoolTensor):
            return torch.where(valid, x, 0).sum() / valid.sum()

    Fix: compute for every element and select with `torch.where`, or multiply by the mask.

    Versions: with `fullgraph=True`, torch 2.10 and later keep the read in the graph; in default mode it breaks on all.
    """

    code, name = "TCL106", "boolean-mask-read"
    effect, severity = Effect.GRAPH_BREAK, Severity.HIGH
    graph_breaks = ("GB0036",)

    def on_subscript(self, event: Subscript) -> Iterator[Finding]:
        if isinstance(event.receiver, Tensor):
            yield from self._masked(event, event.index, "`x[mask]` has a shape that depends on values")

    def on_store(self, event: Store) -> Iterator[Finding]:
        if event.target == "subscript" and event.augmented and isinstance(event.receiver, Tensor) and event.index:
            yield from self._masked(event, event.index, "`x[mask] += …` reads x[mask] first")

    def _masked(self, event: Event, index: Value, what: str) -> Iterator[Finding]:
        if event.site is not None and event.site.fullgraph is True and self.target >= (2, 10):
            return
        parts = index.items if isinstance(index, Seq) and index.kind == "tuple" and index.items is not None else (index,)
        mask = next((t for p in parts if (t := tensor_of(p)) is not None and t.dtype == "b"), None)
        if mask is None or mask.ndim == 0:
            return
        yield self.finding(
            event,
            f"{what}; Dynamo breaks the graph here{whole_frame(event)}",
            about=mask,
            help="select with torch.where instead",
        )
