"""TCL307: the static output of a captured graph is kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Event, ModuleEvent
from tclint.fixes.places import FunctionNode, Place, node_at
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.rules._captures import Capture, captures, replay_lines, scope_of
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text

_VIEWS = frozenset(
    "view squeeze unsqueeze detach transpose permute reshape contiguous flatten t chunk split expand".split()
)


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
    triggers = (b"cuda.graph(",)

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        for capture in captures(event.node):
            for function in scope_of(capture):
                replays = replay_lines(capture, function)
                if replays:
                    yield from self._kept(event, capture, function, min(replays))

    def _kept(self, event: ModuleEvent, capture: Capture, function: FunctionNode, replay: int) -> Iterator[Finding]:
        for node in ast.walk(function):
            if getattr(node, "lineno", 0) < replay:
                continue
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in ("append", "extend", "add", "put", "insert") and any(
                    _aliases(a, capture.outputs) for a in node.args
                ):
                    yield self._finding(event, node, "kept in a container")
            elif isinstance(node, ast.Return) and node.value is not None and _aliases(node.value, capture.outputs):
                if capture.graph.startswith("self.") and function is not capture.function:
                    yield self._finding(event, node, "returned")
            elif isinstance(node, ast.Assign) and _aliases(node.value, capture.outputs):
                if any(isinstance(t, (ast.Subscript, ast.Attribute)) for t in node.targets):
                    yield self._finding(event, node, "stored")

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        node = node_at(event, finding.span, (ast.Call, ast.Return, ast.Assign))
        if isinstance(node, ast.Call):
            value = node.args[-1] if node.args else None
        else:
            value = getattr(node, "value", None)
        if value is None or isinstance(value, (ast.Tuple, ast.List, ast.Starred)):
            return None
        return Fix("clone it", Applicability.SAFE, (Place(event, value).append(value, ".clone()"),), "")

    def _finding(self, event: ModuleEvent, node: ast.AST, what: str) -> Finding:
        return self.finding(
            event,
            f"the captured graph's output is {what} without a copy; the next replay() overwrites it",
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
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
        return _aliases(node.func.value, outputs)
    return False
