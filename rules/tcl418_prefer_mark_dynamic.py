"""TCL418: everything dynamic."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Compile
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._scope import argument
from tclint.ruleset.rule import Rule
from tclint.values import Const


class PreferMarkDynamic(Rule):
    """`dynamic=True` makes every size of every input symbolic; usually only the batch or the sequence varies.

    A policy, off by default: opinions differ, and for blocks compiled one by one `dynamic=True` is the simpler
    choice. Fully symbolic shapes make slower kernels and longer compilations than one or two marked dimensions.

    Bad::

        @torch.compile(dynamic=True)
        def f(x):
            return x * 2

    Good::

        @torch.compile
        def f(x):
            return x * 2

        def run(x):
            torch._dynamo.mark_dynamic(x, 0)
            return f(x)

    Fix: `torch._dynamo.mark_dynamic(x, dim)` in the eager caller, right before the call.

    Ignore it where most sizes do vary. Turn it on with `extend-select = ["TCL418"]`.
    """

    code, name = "TCL418", "prefer-mark-dynamic"
    effect, severity = Effect.SLOW, Severity.LOW
    default = False
    scope = "any"

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        dynamic = event.keywords.get("dynamic")
        if isinstance(dynamic, Const) and dynamic.value is True:
            yield self.finding(
                event,
                "`dynamic=True` makes every size symbolic",
                node=argument(event.node, "dynamic"),
                confidence=Confidence.HIGH,
                help="mark only what varies: torch._dynamo.mark_dynamic(x, dim) before the call",
            )
