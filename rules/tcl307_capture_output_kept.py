"""TCL307: the static output of a captured graph is kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, Event, Return, Reuse, Store
from tclint.fixes.places import Place, node_at
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity, Span
from tclint.rules._captures import TRIGGERS
from tclint.rules._kept_outputs import KEEPING_CALLS, MATERIALISE, Kept, KeptOutputs
from tclint.ruleset.rule import Rule


class CaptureOutputKept(Rule):
    """The output tensor of a captured graph is returned, stored or appended after `replay()` without a copy.

    Every replay writes the same memory: what was kept of the last one changes with the next, silently.

    Bad::

        def run(model, static_x, batches):
            model(static_x)
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                static_y = model(static_x)
            results = []
            for x in batches:
                static_x.copy_(x)
                g.replay()
                results.append(static_y)
            return results

    Good::

        def run(model, static_x, batches):
            model(static_x)
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                static_y = model(static_x)
            results = []
            for x in batches:
                static_x.copy_(x)
                g.replay()
                results.append(static_y.clone())
            return results

    Fix: `.clone()`. `--fix` adds it. It costs a copy; never wrong.
    """

    code, name = "TCL307", "capture-output-kept"
    effect, severity = Effect.CUDAGRAPH, Severity.HIGH
    triggers = TRIGGERS
    scope = "eager"
    calls = KEEPING_CALLS

    def __init__(self) -> None:
        super().__init__()
        self._outputs = KeptOutputs(manual=True)
        self._kept_at: dict[tuple[str, Span], Event] = {}

    def on_store(self, event: Store) -> Iterator[Finding]:
        return self._findings(self._outputs.at_store(event))

    def on_call(self, event: Call) -> Iterator[Finding]:
        return self._findings(self._outputs.at_call(event))

    def on_reuse(self, event: Reuse) -> Iterator[Finding]:
        return self._findings(self._outputs.at_reuse(event))

    def on_return(self, event: Return) -> Iterator[Finding]:
        return self._findings(self._outputs.at_return(event))

    def _findings(self, kept: Iterator[Kept]) -> Iterator[Finding]:
        for at, _, what in kept:
            finding = self._finding(at, at.node, what)
            self._kept_at[finding.path, finding.span] = at
            yield finding

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        at = self._kept_at.get((finding.path, finding.span), event)
        node = node_at(at, finding.span, (ast.Call, ast.Return, ast.Assign))
        if isinstance(at, Reuse) or isinstance(at, Call) and at.name in MATERIALISE:
            return None
        if isinstance(node, ast.Call):
            value = node.args[-1] if node.args else None
        else:
            value = getattr(node, "value", None)
        if value is None or isinstance(value, (ast.Tuple, ast.List, ast.Starred)):
            return None
        return Fix("clone it", Applicability.SAFE, (Place(at, value).append(value, ".clone()"),), "")

    def _finding(self, event: Event, node: ast.AST, what: str) -> Finding:
        return self.finding(
            event,
            f"the captured graph's output {what}; the next replay() overwrites it",
            node=node,
            confidence=Confidence.HIGH,
            help="clone it",
        )
