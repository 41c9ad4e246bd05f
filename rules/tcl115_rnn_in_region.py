"""TCL115: recurrent modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tclint.events import Call
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule
from tclint.torch_facts import facts

_OWN: Final = facts.named("belongs to recurrent networks alone")


class RnnInRegion(Rule):
    """`nn.LSTM`, `nn.GRU`, `nn.RNN` and packed sequences send the whole function to eager.

    Dynamo refuses them by default (`torch._dynamo.config.allow_rnn = True` lets them in, at the price of unrolling the
    sequence). Up to torch 2.14 the function that calls one is not compiled at all; from 2.15 on only the call breaks.

    Bad::

        def f(x, rnn: nn.LSTM):
            return torch.nn.LSTM(8, 8)(x)[0]

    Good::

        def f(x):
            return x.cumsum(0)

    Fix: keep the recurrent part in an eager module and compile what is around it.
    """

    code, name = "TCL115", "rnn-in-region"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    graph_breaks = ("GB0014", "GB0007")
    calls = (*facts.named("runs a recurrent network"), *facts.named("packs sequences"), *_OWN)
    owns = (
        "torch.nn.utils.rnn.*",
        *(name.replace(".forward", "*") for name in facts.named("runs a recurrent network")),
    )

    def on_call(self, event: Call) -> Iterator[Finding]:
        if event.method == "pad_packed_sequence" or event.configured("allow_rnn"):
            return
        what = event.name.removesuffix(".forward").removeprefix("torch.").removeprefix("?")
        consequence = "this function is not compiled" if self.target < (2, 15) else "the graph breaks here"
        yield self.finding(
            event,
            f"`{what}` in compiled code: {consequence}",
            confidence=Confidence.MEDIUM if event.name in _OWN else Confidence.HIGH,
            help="isolate the recurrent part in eager code, or set torch._dynamo.config.allow_rnn",
        )
