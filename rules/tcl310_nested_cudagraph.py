"""TCL310: a manual capture around a callable that has its own CUDA graphs."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import CompiledCall
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text


class NestedCudagraph(Rule):
    """`torch.cuda.graph` around a callable compiled with `reduce-overhead`: a graph cannot be replayed inside a capture.

    It fails with "Cannot prepare for replay during capturing stage". Capture by hand, or let Inductor do it, not both.

    Bad::

        def run(net, x):
            net = torch.compile(net, mode="reduce-overhead")
            net(x)
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                y = net(x)

    Good::

        def run(net, x):
            net = torch.compile(net)
            net(x)
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                y = net(x)

    Fix: `mode="default"` (or `max-autotune-no-cudagraphs`) for what is captured by hand.
    """

    code, name = "TCL310", "nested-cudagraph"
    effect, severity = Effect.ERROR, Severity.HIGH
    scope = "eager"

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        function = event.enclosing
        if not event.callee.site.cudagraphs or function is None:
            return
        line = getattr(event.node, "lineno", 0)
        for node in ast.walk(function.node):
            if isinstance(node, ast.With) and node.lineno <= line <= (node.end_lineno or 0):
                for item in node.items:
                    call = item.context_expr
                    if isinstance(call, ast.Call) and text(call.func) in ("torch.cuda.graph", "cuda.graph"):
                        yield self.finding(
                            event,
                            "a callable compiled with CUDA graphs is called inside a manual capture",
                            confidence=Confidence.HIGH,
                            help='compile it with mode="default" when capturing by hand',
                        )
                        return
