"""TCL107: logging and warnings in compiled code."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Call, Event
from tclint.fixes.recipes import skip_while_compiling
from tclint.model.finding import Confidence, Effect, Finding, Fix, Severity
from tclint.rules._excused import is_excused
from tclint.ruleset.rule import Rule, whole_frame
from tclint.torch_facts import facts


class LoggingInRegion(Rule):
    """A logger or `warnings.warn` inside the compiled region ends the graph, also when the level is off.

    Dynamo does not trace `logging.Logger`: even `logger.isEnabledFor(...)` breaks, and a message that is never printed
    costs as much as one that is.

    Bad::

        def f(x):
            logging.getLogger("m").debug("norm %s", x.norm())
            return x * 2

    Good::

        def f(x):
            if not torch.compiler.is_compiling():
                logging.getLogger("m").debug("norm %s", x.norm())
            return x * 2

    Fix: guard with `torch.compiler.is_compiling()`, or log in the caller. The guard silences the message in compiled
    runs. `--unsafe-fixes` adds the guard: wrong where the message is needed in compiled runs.

    Ignore it on a path that runs once, such as a deprecation that stops the program.
    """

    code, name = "TCL107", "logging-in-region"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    graph_breaks = ("GB0291", "GB4841", "GB6215", "GB0007")
    calls = facts.named("logs")
    owns = ("logging.*", "warnings.*")

    def on_call(self, event: Call) -> Iterator[Finding]:
        if is_excused(event):
            return
        # The functions of the two modules go by their own names, the methods of a logger by what programs call it.
        what = event.name if event.receiver is None and not event.name.startswith("?") else f"logger.{event.method}"
        yield self.finding(
            event,
            f"`{what}` in compiled code; Dynamo breaks the graph here even when nothing is printed{whole_frame(event)}",
            confidence=Confidence.MEDIUM if event.name.startswith("?") else Confidence.HIGH,
            help="guard it with `if not torch.compiler.is_compiling():` or log in the caller",
        )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        return skip_while_compiling(event, event.node, "nothing is logged")
