"""TCL103: a Python number taken out of a tensor."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Call
from tclint.finding import Confidence, Effect, Finding, Severity
from tclint.rule import Rule, whole_frame
from tclint.values import ARRAY, RAW, Scalar, Seq, Tensor, tensor_of


class ScalarExtraction(Rule):
    """`.item()`, `.tolist()`, `int(t)`, `float(t)` or `math.f(t)` turn a tensor into Python numbers.

    The number does not exist while Dynamo traces. It ends the graph, waits for the device, and goes on in a new graph with
    a number that may change at every step. The same happens unseen in `torch.equal`, `torch.allclose` and `numpy` reads.

    Bad::

        def f(x):
            scale = x.abs().max().item()
            return x / scale

    Good::

        def f(x):
            scale = x.abs().max()
            return x / scale

    Fix: keep the 0-d tensor; arithmetic with it gives the same result. Wrong where a Python number is really needed
    (a size, a loop count): then take it outside the region.

    Versions: with `fullgraph=True`, torch 2.10 and later keep `.item()` in the graph; in default mode it breaks on all.
    """

    code, name = "TCL103", "scalar-extraction"
    effect, severity = Effect.GRAPH_BREAK, Severity.HIGH
    graph_breaks = ("GB0124", "GB0033", "GB0109", "GB0213")
    calls = (
        *("Tensor.item", "Tensor.tolist", "?.item", "?.tolist", "ndarray.item", "ndarray.tolist"),
        *("builtins.int", "builtins.float", "builtins.complex", "math.*", "builtins.round", "cmath.*"),
        *("torch.equal", "torch.allclose", "torch.is_nonzero", "Tensor.equal", "Tensor.allclose", "Tensor.is_nonzero"),
        *("Tensor.__int__", "Tensor.__float__", "Tensor.__bool__", "torch._check_tensor_all", "numpy.allclose"),
        *("numpy.array_equal", "torch.Tensor.item", "torch._check_tensor_all_with"),
    )

    def on_call(self, event: Call) -> Iterator[Finding]:
        name = event.name
        if event.site is not None and event.site.fullgraph is True and self.target >= (2, 10):
            return
        if name.startswith("?."):
            if event.args or event.keywords:
                return
            yield self._finding(event, None, f"`.{event.method}()`", Confidence.MEDIUM)
            return
        if name.startswith(("Tensor.", "ndarray.")):
            yield self._finding(event, tensor_of(event.receiver) if event.receiver else None, f"`.{event.method}()`")
            return
        values = [*event.args, *event.keywords.values()]
        tensor = next((t for v in values if (t := tensor_of(v)) is not None), None)
        if tensor is None and name in ("math.prod", "math.fsum") and values and isinstance(values[0], Seq):
            tensor = tensor_of(values[0].element())
        if tensor is None:
            return
        if name == "builtins.round" or (name.startswith("math.") and isinstance(event.result, Seq)):
            return
        short = name.removeprefix("builtins.")
        yield self._finding(event, tensor, f"`{short}` of a tensor")

    def _finding(
        self, event: Call, tensor: Tensor | None, what: str, confidence: Confidence | None = None
    ) -> Finding:
        return self.finding(
            event,
            f"{what} reads a value out of the graph; Dynamo breaks here and the device is waited for{whole_frame(event)}",
            about=tensor,
            confidence=confidence,
            help="keep the 0-d tensor and compute with it",
        )


__all__ = ["ARRAY", "RAW", "Scalar", "ScalarExtraction"]
