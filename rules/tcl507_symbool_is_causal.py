"""TCL507: `is_causal` computed from sizes."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Call
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule
from tclint.values import UNKNOWN, Scalar, Seq, Tensor, Union, Value


class SymboolIsCausal(Rule):
    """`is_causal=` bound to a comparison of sizes breaks the graph as soon as those sizes are dynamic.

    With dynamic shapes a comparison of sizes is a `SymBool`, and `scaled_dot_product_attention` takes a Python bool
    only: "argument 'is_causal' must be bool, not SymBool". `bool(...)` around it does not help. With static shapes
    nothing happens, until the second sequence length makes the size dynamic.

    Bad::

        @torch.compile(dynamic=True)
        def f(q, k):
            return torch.nn.functional.scaled_dot_product_attention(q, k, k, is_causal=q.shape[2] == k.shape[2])

    Good::

        @torch.compile(dynamic=True)
        def f(q, k):
            causal = True if q.shape[2] == k.shape[2] else False
            return torch.nn.functional.scaled_dot_product_attention(q, k, k, is_causal=causal)

    Fix: pass a Python flag (`is_prefill`) from the caller, or take the branch with `if`, which guards on the
    comparison.

    Who compares sizes expects that they differ from call to call, so it is said wherever the program compiles the code, unless the
    calls in sight all pass the same sizes. Where nothing in the program compiles it, the confidence is low.
    """

    code, name = "TCL507", "symbool-is-causal"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    graph_breaks = ("GB0112",)
    calls = ("torch.nn.functional.scaled_dot_product_attention",)

    def on_call(self, event: Call) -> Iterator[Finding]:
        value = event.keywords.get("is_causal")
        if value is None or not _symbolic(value):
            return
        yield self.finding(
            event,
            "`is_causal` is a comparison of sizes: with dynamic shapes a SymBool, on which Dynamo breaks the graph",
            confidence=_likely(event),
            help="pass a Python bool from the caller",
        )


def _symbolic(value: Value) -> bool:
    if isinstance(value, Union):
        return any(_symbolic(o) for o in value.options)
    return isinstance(value, Scalar) and value.type == "bool" and value.source == "size"


def _likely(event: Call) -> Confidence:
    """How sure it is that a size is dynamic here."""
    if event.site is None:
        return Confidence.LOW
    if isinstance(event.site.dynamic, bool):
        return Confidence.HIGH if event.site.dynamic else Confidence.LOW
    if any(_marked(v) for v in (*event.args[:3], *event.keywords.values())):
        return Confidence.HIGH
    if event.evidence is None:
        return Confidence.LOW if event.ask.in_one_call() else Confidence.MEDIUM
    given = [v for values in event.evidence.values.values() for v in values]
    if any(map(_marked, given)):
        return Confidence.HIGH
    shapes = [event.evidence.shapes(name) for name in event.evidence.values]
    if any(len(set(each)) > 1 for each in shapes):
        return Confidence.HIGH
    return Confidence.LOW if all(map(_settled, given)) else Confidence.MEDIUM


def _settled(value: Value) -> bool:
    """Whether it is known how large an argument is, or that it has no size."""
    if isinstance(value, Tensor):
        return isinstance(value.shape, tuple) and None not in value.shape
    if isinstance(value, Union):
        return all(map(_settled, value.options))
    if isinstance(value, Seq):
        return value.items is not None and all(map(_settled, value.items))
    return value is not UNKNOWN


def _marked(value: Value) -> bool:
    return isinstance(value, Tensor) and bool(getattr(value, "marks", ()))
