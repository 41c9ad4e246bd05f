"""TCL308: a capture without a warm-up."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import ModuleEvent
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._captures import captures
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text


class CaptureNoWarmup(Rule):
    """A CUDA graph is captured without running the callable before: libraries initialise inside the capture, and fail.

    cuBLAS and cuDNN create handles and workspaces at their first call, which a capture does not allow.

    Bad::

        def run(model, x):
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                y = model(x)

    Good::

        def run(model, x):
            for _ in range(3):
                model(x)
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                y = model(x)

    Fix: three calls on a side stream before the capture.
    """

    code, name = "TCL308", "capture-no-warmup"
    effect, severity = Effect.CUDAGRAPH, Severity.MEDIUM
    triggers = (b"cuda.graph(",)

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        for capture in captures(event.node):
            before = {
                text(node.func)
                for node in ast.walk(capture.function)
                if isinstance(node, ast.Call) and node.lineno < capture.block.lineno
            }
            if not capture.called or capture.called & before or any("warm" in name.lower() for name in before):
                continue
            names = ", ".join(f"`{n}`" for n in sorted(capture.called))
            yield self.finding(
                event,
                f"{names} is captured without a warm-up call before",
                node=capture.block.items[0].context_expr,
                confidence=Confidence.HIGH,
                help="call it a few times before the capture, on a side stream",
            )
