"""TCL412: `torch._dynamo.explain` of something already compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, Store
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._scope import place
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text
from tclint.values import Compiled


class ExplainCompiled(Rule):
    """`torch._dynamo.explain` of a module that was compiled in place reports no graphs and no breaks.

    `explain` traces with a backend of its own. After `model.compile()` or `model.forward =
    torch.compile(model.forward)` the compiled code inside is skipped, and the report says 0 graphs and -1 breaks
    whatever the model does. `explain(torch.compile(f))` looks through the wrapper and is right.

    Bad::

        class Net(torch.nn.Module):
            def forward(self, x):
                return x * 2

        net = Net()
        net.compile()
        report = torch._dynamo.explain(net)(torch.ones(2))

    Good::

        class Net(torch.nn.Module):
            def forward(self, x):
                return x * 2

        net = Net()
        report = torch._dynamo.explain(net)(torch.ones(2))
        net.compile()

    Fix: explain the model before it is compiled. For breaks that `explain` does not list use
    `TORCH_LOGS=graph_breaks`.
    """

    code, name = "TCL412", "explain-compiled"
    effect, severity = Effect.SILENT, Severity.MEDIUM
    scope = "eager"
    calls = ("torch._dynamo.explain",)

    def __init__(self) -> None:
        super().__init__()
        self._patched: dict[tuple[str, str], dict[str, int]] = {}

    def on_store(self, event: Store) -> Iterator[Finding]:
        if event.target == "attribute" and event.name == "forward" and isinstance(event.value, Compiled):
            for target in getattr(event.node, "targets", ()):
                if isinstance(target, ast.Attribute) and target.attr == "forward":
                    self._patched.setdefault(place(event), {})[text(target.value)] = target.lineno
        return iter(())

    def on_call(self, event: Call) -> Iterator[Finding]:
        node = event.node
        value = event.args[0] if event.args else None
        if not isinstance(node, ast.Call) or not node.args or value is None:
            return
        patched = self._patched.get(place(event), {}).get(text(node.args[0]), node.lineno) < node.lineno
        if patched or (isinstance(value, Compiled) and value.site.in_place):
            yield self.finding(
                event,
                f"`{text(node.args[0])}` is already compiled in place: explain reports 0 graphs and no breaks",
                confidence=Confidence.HIGH,
                help="explain it before compiling it",
            )
