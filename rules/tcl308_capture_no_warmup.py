"""TCL308: a capture without a warm-up."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Refused
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._captures import TRIGGERS
from tclint.ruleset.rule import Rule


class CaptureNoWarmup(Rule):
    """A CUDA graph is captured before cuBLAS, cuDNN, cuSOLVER or cuFFT have been called: they set up inside the capture, and fail.

    These libraries create handles and workspaces at their first call, which a capture does not allow: matrix products,
    linear layers, convolutions, solvers, transforms. What needs none of them (`copy_`, arithmetic, reductions, random numbers,
    norms, most kernels of your own) is captured as it is. Any earlier call in the process will do; where something was called
    that tclint cannot see into, it may have been one, and nothing is said.

    Bad::

        def run(x):
            model = nn.Linear(64, 64).to(x.device)
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                y = model(x)

    Good::

        def run(x):
            model = nn.Linear(64, 64).to(x.device)
            for _ in range(3):
                model(x)
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                y = model(x)

    Fix: three calls on a side stream before the capture.
    """

    code, name = "TCL308", "capture-no-warmup"
    effect, severity = Effect.CUDAGRAPH, Severity.MEDIUM
    triggers = TRIGGERS
    scope = "eager"

    def on_refused(self, event: Refused) -> Iterator[Finding]:
        if event.why == "cold":
            yield self.finding(
                event,
                f"`{event.about}` is captured without a warm-up: its library sets itself up at the first call, which a "
                "capture does not allow",
                confidence=Confidence.HIGH,
                help="call what is captured a few times before, on a side stream",
            )
