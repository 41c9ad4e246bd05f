"""TCL417: CUDA graphs turned off."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Compile
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._scope import argument
from tclint.ruleset.rule import Rule
from tclint.values import Const, Dict


class CudagraphsDisabled(Rule):
    """`options={"triton.cudagraphs": False}` silences CUDA-graph errors by giving CUDA graphs up.

    A policy, off by default. The errors about overwritten outputs point at tensors that outlive the step they were
    made in. Turning capture off makes them go away together with the low launch overhead that CUDA graphs were
    chosen for.

    Bad::

        @torch.compile(options={"triton.cudagraphs": False})
        def f(x):
            return x * 2

    Good::

        @torch.compile(mode="reduce-overhead")
        def f(x):
            return x * 2

    Fix: keep `mode="reduce-overhead"` and clone what is kept past the next call (TCL301).

    Ignore it where shapes vary so much that CUDA graphs cost more than they save. Turn it on with
    `extend-select = ["TCL417"]`.
    """

    code, name = "TCL417", "cudagraphs-disabled"
    effect, severity = Effect.SLOW, Severity.LOW
    default = False
    scope = "any"

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        options = event.keywords.get("options")
        value = options.items.get("triton.cudagraphs") if isinstance(options, Dict) else None
        if isinstance(value, Const) and value.value is False:
            yield self.finding(
                event,
                "CUDA graphs are turned off here: launch overhead comes back",
                node=argument(event.node, "options"),
                confidence=Confidence.HIGH,
                help='keep `mode="reduce-overhead"` and clone what outlives the step',
            )
