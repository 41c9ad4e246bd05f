"""TCL111: marking dimensions inside compiled code."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Call, Event
from tclint.fixes.recipes import remove_statement
from tclint.model.finding import Confidence, Effect, Finding, Fix, Severity
from tclint.ruleset.rule import Rule
from tclint.torch_facts import facts

_MARKS = tuple(sorted(facts.methods("marks a tensor's sizes")))


class MarkDynamicInRegion(Rule):
    """`mark_dynamic` inside a compiled region raises "Attempt to trace forbidden callable".

    The mark belongs on a tensor before it enters the compiled callable. Inside, Dynamo refuses it with an AssertionError,
    with and without `fullgraph`. (`mark_static` is allowed inside: measured on 2.13.)

    Bad::

        def f(x):
            torch._dynamo.maybe_mark_dynamic(x, 0)
            return x * 2

    Good::

        def f(x):
            return x * 2  # the caller marks x right before the call

    Fix: move the call to the eager caller, right before the compiled block is called. `--unsafe-fixes` removes it here:
    wrong until the caller sets the mark.
    """

    code, name = "TCL111", "mark-dynamic-in-region"
    effect, severity = Effect.ERROR, Severity.HIGH
    calls = (
        *(f"torch._dynamo.{n}" for n in _MARKS),
        *(f"torch._dynamo.decorators.{n}" for n in _MARKS),
        "torch.compiler.set_stance",
    )

    def on_call(self, event: Call) -> Iterator[Finding]:
        if event.name == "torch._dynamo.mark_unbacked" and self.target < (2, 16):
            # There is no such name in this namespace: the call fails in Python before Dynamo sees it (TCL211).
            return
        if event.name == "torch.compiler.set_stance":
            return
        yield self.finding(
            event,
            f'`{event.method}` inside a compiled region: Dynamo raises "Attempt to trace forbidden callable"',
            confidence=Confidence.HIGH,
            help="call it in the eager caller, right before the compiled callable",
        )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        note = "the mark is then missing: set it in the eager caller, right before the compiled callable is called"
        return remove_statement(event, event.node, "remove it here and mark in the caller", note)
