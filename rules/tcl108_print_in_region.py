"""TCL108: input and output in compiled code."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Call
from tclint.finding import Confidence, Effect, Finding, Severity
from tclint.rule import Rule, whole_frame


class PrintInRegion(Rule):
    """`print`, `sys.stdout.write`, `open` or a progress bar inside the compiled region ends the graph.

    Printing a tensor also waits for the device. `torch._dynamo.explain` does not even show a `print` on the first line.

    Bad::

        def f(x):
            print("mean", x.mean())
            return x * 2

    Good::

        def f(x):
            return x * 2  # print in the caller

    Fix: remove it, move it to the caller, or guard it with `torch.compiler.is_compiling()`.
    """

    code, name = "TCL108", "print-in-region"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    graph_breaks = ("GB0059", "GB0156", "GB0007")
    calls = (
        *("builtins.print", "builtins.open", "builtins.input", "builtins.breakpoint", "pdb.set_trace", "io.open"),
        *("sys.stdout.*", "sys.stderr.*", "pprint.*", "tqdm.*", "rich.*", "builtins.exec", "builtins.eval"),
        *("builtins.compile", "torch.save", "torch.load", "json.dump", "wandb.*", "traceback.print_*"),
    )

    def on_call(self, event: Call) -> Iterator[Finding]:
        short = event.name.removeprefix("builtins.")
        if short == "eval":
            return
        yield self.finding(
            event,
            f"`{short}` in compiled code; Dynamo breaks the graph here{whole_frame(event)}",
            confidence=Confidence.HIGH,
            help="move it to the caller, or guard it with `if not torch.compiler.is_compiling():`",
        )
