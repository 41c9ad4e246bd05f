"""TCL416: max-autotune."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Compile
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._scope import argument
from tclint.ruleset.rule import Rule
from tclint.values import Const


class MaxAutotunePolicy(Rule):
    """`mode="max-autotune"` benchmarks many kernels for every matrix multiplication and convolution while it compiles.

    A policy, off by default. The first call takes minutes instead of seconds, again for every new shape, and gains
    most where large matrix multiplications dominate. While a model is being developed that is time lost at every
    start.

    Bad::

        @torch.compile(mode="max-autotune")
        def f(x):
            return x @ x

    Good::

        @torch.compile
        def f(x):
            return x @ x

    Fix: the default mode while developing; `max-autotune` for what is deployed, with the caches kept between runs.

    Ignore it where you measured the gain. Turn it on with `extend-select = ["TCL416"]`.
    """

    code, name = "TCL416", "max-autotune-policy"
    effect, severity = Effect.SLOW, Severity.LOW
    default = False
    scope = "any"

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        mode = event.keywords.get("mode")
        if isinstance(mode, Const) and isinstance(mode.value, str) and mode.value.startswith("max-autotune"):
            yield self.finding(
                event,
                f'`mode="{mode.value}"` benchmarks kernels for minutes at the first call of each shape',
                node=argument(event.node, "mode"),
                confidence=Confidence.HIGH,
                help="use the default mode while developing",
            )
