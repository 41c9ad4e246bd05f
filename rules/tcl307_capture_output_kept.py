"""TCL307: the static output of a captured graph is kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, Event, ModuleEvent, Return, Reuse, Store
from tclint.fixes.places import Place, node_at
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity, Span
from tclint.rules._captures import TRIGGERS, Capture, Scope, captures, replay_lines, scope_of
from tclint.rules._kept_outputs import KEEPING_CALLS, MATERIALISE, Kept, KeptOutputs
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text
from tclint.torch_facts import facts, traits


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

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        """A graph kept on self is captured in one method and replayed in another: there the text tells."""
        for capture in captures(event.node):
            if not capture.graph.startswith("self."):
                continue
            for function in scope_of(capture):
                replays = replay_lines(capture, function)
                if replays:
                    yield from self._kept(event, capture, function, min(replays))

    def _kept(self, event: ModuleEvent, capture: Capture, function: Scope, replay: int) -> Iterator[Finding]:
        outputs = set(capture.outputs)
        for node in sorted(ast.walk(function), key=lambda n: getattr(n, "lineno", 0)):
            if getattr(node, "lineno", 0) < replay:
                continue
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in facts.named("puts a value into a container") and any(
                    _aliases(a, outputs) for a in node.args
                ):
                    yield self._finding(event, node, "is kept in a container without a copy")
            elif isinstance(node, ast.Return) and node.value is not None and _aliases(node.value, outputs):
                if function is not capture.function:
                    yield self._finding(event, node, "is returned without a copy")
            elif isinstance(node, ast.Assign) and _aliases(node.value, outputs):
                if any(isinstance(t, (ast.Subscript, ast.Attribute)) for t in node.targets):
                    yield self._finding(event, node, "is stored without a copy")
                outputs.update(t.id for t in node.targets if isinstance(t, ast.Name))

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


def _aliases(node: ast.expr, outputs: set[str]) -> bool:
    if isinstance(node, (ast.Name, ast.Attribute)) and text(node) in outputs:
        return True
    if isinstance(node, ast.Subscript):
        return _aliases(node.value, outputs)
    if isinstance(node, (ast.Tuple, ast.List)):
        return any(_aliases(e, outputs) for e in node.elts)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and traits.is_view(node.func.attr):
        return _aliases(node.func.value, outputs)
    return False
