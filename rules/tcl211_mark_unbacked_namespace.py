"""TCL211: mark_unbacked looked for in the wrong place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, Event
from tclint.fixes.places import Place
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.ruleset.rule import Rule
from tclint.values import Const, External


class MarkUnbackedNamespace(Rule):
    """`torch._dynamo.mark_unbacked` does not exist; `torch._dynamo.decorators.mark_unbacked` does.

    `hasattr(torch._dynamo, "mark_unbacked")` is False on every release up to 2.15, so code that asks this way never marks
    anything, and batch 1 keeps costing a program of its own.

    Bad::

        def caller(x):
            if hasattr(torch._dynamo, "mark_unbacked"):
                torch._dynamo.mark_unbacked(x, 0)

    Good::

        def caller(x):
            torch._dynamo.decorators.mark_unbacked(x, 0)

    Fix: `from torch._dynamo.decorators import mark_unbacked`. `--fix` adds `.decorators`.
    """

    code, name = "TCL211", "mark-unbacked-namespace"
    effect, severity = Effect.SILENT, Severity.MEDIUM
    scope = "any"
    triggers = (b"mark_unbacked",)
    calls = ("builtins.hasattr", "builtins.getattr", "torch._dynamo.mark_unbacked")

    def on_call(self, event: Call) -> Iterator[Finding]:
        if event.name != "torch._dynamo.mark_unbacked":
            owner, name = (*event.args, None, None)[:2]
            if not (isinstance(owner, External) and owner.name == "torch._dynamo"):
                return
            if not (isinstance(name, Const) and name.value == "mark_unbacked"):
                return
        yield self.finding(
            event,
            "`torch._dynamo.mark_unbacked` does not exist: it is torch._dynamo.decorators.mark_unbacked",
            confidence=Confidence.HIGH,
            help="from torch._dynamo.decorators import mark_unbacked",
        )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        place = Place(event)
        node = place.node
        if not isinstance(node, ast.Call):
            return None
        owner = node.args[0] if isinstance(node.func, ast.Name) and node.args else getattr(node.func, "value", None)
        if not isinstance(owner, ast.Attribute) or owner.attr != "_dynamo":
            return None
        title = "look in torch._dynamo.decorators"
        return Fix(title, Applicability.SAFE, (place.insert_after(owner, ".decorators"),), "")
