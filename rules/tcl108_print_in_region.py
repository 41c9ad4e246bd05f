"""TCL108: input and output in compiled code."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, Event, Loop
from tclint.fixes.places import Place
from tclint.fixes.recipes import skip_unread_store, skip_while_compiling
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.rules._excused import is_excused
from tclint.ruleset.rule import Rule, whole_frame
from tclint.torch_facts import facts
from tclint.values import Const, Object

_BARS = frozenset(facts.named("hands on what is iterated"))
# What goes on to be used: leaving the call out would leave its result out.
_KEPT = frozenset(facts.named("gives a result that goes on to be used"))


class PrintInRegion(Rule):
    """`print`, `sys.stdout.write`, `open` or a progress bar inside the compiled region ends the graph.

    Printing a tensor also waits for the device. `torch._dynamo.explain` does not even show a `print` on the first line. A
    progress bar breaks where it is made, and once more where it is looped over.

    Bad::

        def f(x):
            print("mean", x.mean())
            return x * 2

    Good::

        def f(x):
            return x * 2  # print in the caller

    Fix: remove it, move it to the caller, or guard it with `torch.compiler.is_compiling()`. `--unsafe-fixes` adds the
    guard, and takes a progress bar away: wrong where the output is needed in compiled runs.
    """

    code, name = "TCL108", "print-in-region"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    graph_breaks = ("GB0059", "GB0156", "GB0007", "GB0008")
    subjects = {"loop": (Object,)}
    calls = facts.named("prints or touches files")
    owns = tuple(name for name in calls if name.startswith("builtins.") or name == "torch.save")

    def on_call(self, event: Call) -> Iterator[Finding]:
        if is_excused(event):
            return
        short = event.name.removeprefix("builtins.")
        verdict = self.verdict(event)
        if verdict is not None and (verdict.breaks == "never" or verdict.breaks == "sometimes" and _is_closed(event)):
            return
        yield self.finding(
            event,
            f"`{short}` in compiled code; Dynamo breaks the graph here{whole_frame(event)}",
            confidence=Confidence.HIGH,
            help="move it to the caller, or guard it with `if not torch.compiler.is_compiling():`",
        )

    def on_loop(self, event: Loop) -> Iterator[Finding]:
        bar = event.iterable
        # The loop that makes its own bar has been told where it is made.
        if isinstance(bar, Object) and bar.name in _BARS and bar.origin.line != getattr(event.node, "lineno", 0):
            yield self.finding(
                event,
                f"a loop over `{bar.name}` in compiled code; Dynamo breaks the graph here, and the whole function runs eagerly",
                node=event.node.iter if isinstance(event.node, (ast.For, ast.comprehension)) else event.node,
                confidence=Confidence.HIGH,
                graph_breaks=self.ids("GB0008"),
                help="loop over what the progress bar is given, or show progress in the caller",
            )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        if not isinstance(event, Call):
            return None
        name, node = event.name, event.node
        if name in ("tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm") and isinstance(node, ast.Call) and node.args:
            place = Place(event)
            if isinstance(place.parent, (ast.For, ast.comprehension)):
                edit = place.replace(node, place.source(node.args[0]))
                return Fix("loop without the progress bar", Applicability.UNSAFE, (edit,), "no progress is shown")
        if name in _KEPT or name.startswith(("tqdm.", "rich.")):
            return skip_unread_store(event, node)
        said = skip_while_compiling(event, node, "nothing is printed or saved")
        return said or skip_unread_store(event, node)


def _is_closed(event: Call) -> bool:
    """Whether a text is evaluated that names nothing: Dynamo computes it while it traces."""
    text = event.args[0] if len(event.args) == 1 and not event.keywords else None
    if not isinstance(text, Const) or not isinstance(text.value, str):
        return False
    try:
        tree = ast.parse(text.value.strip(), mode="eval")
    except SyntaxError:
        return False
    return not any(isinstance(each, ast.Name) for each in ast.walk(tree))
