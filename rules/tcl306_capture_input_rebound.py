"""TCL306: the static input of a captured graph is rebound."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Event, ModuleEvent
from tclint.fixes.places import Place, node_at
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.rules._captures import TRIGGERS, Scope, calls_of, captures, passed, replay_lines, scope_of
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text


class CaptureInputRebound(Rule):
    """The name of a captured graph's input is bound to something new before `replay()`: the graph still reads the old one.

    A CUDA graph remembers addresses. `static_x = x` changes what the name means, not what the graph reads: the result is
    silently that of the old input. A Python number that the capture reads is written into the graph, and a parameter that
    is replaced (`layer.weight.data = w`) leaves the graph with the old one.

    Bad::

        def run(model, static_x, batches):
            model(static_x)
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                y = model(static_x)
            for x in batches:
                static_x = x
                g.replay()

    Good::

        def run(model, static_x, batches):
            model(static_x)
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                y = model(static_x)
            for x in batches:
                static_x.copy_(x)
                g.replay()

    Fix: `static_x.copy_(x)`. `--fix` writes it. Wrong where the new tensor has another shape: then nothing short of a
    new capture helps.
    """

    code, name = "TCL306", "capture-input-rebound"
    effect, severity = Effect.SILENT, Severity.HIGH
    triggers = TRIGGERS

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        found = list(captures(event.node))
        for capture in found:
            after = capture.block.end_lineno or 0
            for function in scope_of(capture):
                replays = replay_lines(capture, function)
                first = after if function is capture.function else 0
                again = [c.block.lineno for c in found if c.graph == capture.graph and c is not capture]
                yield from self._rebound(event, function, capture.inputs, first, replays, again)
            for caller, call in calls_of(event.node, capture.function):
                given = passed(capture.function, call)
                inputs = {text(v) for n, v in given.items() if n in capture.inputs and isinstance(v, ast.Name)}
                replays = [
                    node.lineno
                    for node in ast.walk(caller)
                    if isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and node.func.attr == "replay"
                ]
                yield from self._rebound(event, caller, inputs, call.lineno, replays, [])

    def _rebound(
        self, event: ModuleEvent, function: Scope, inputs: set[str], after: int, replays: list[int], again: list[int]
    ) -> Iterator[Finding]:
        """What is bound anew between the capture and a replay. `again` are the lines of later captures of the same graph."""
        for node in ast.walk(function):
            line = getattr(node, "lineno", 0)
            next_replay = min((r for r in replays if r >= line), default=0)
            if line <= after or not next_replay or any(line <= a <= next_replay for a in again):
                continue
            targets: list[ast.expr] = []
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, ast.For):
                targets = [node.target]
            for target in targets:
                what = _what(target, node, inputs)
                if what:
                    yield self._finding(event, target, node, what)

    def _finding(self, event: ModuleEvent, target: ast.expr, node: ast.AST, what: str) -> Finding:
        value = text(node.value) if isinstance(node, ast.Assign) else "value"
        return self.finding(
            event,
            f"`{text(target)}` is {what}; binding it to something new does not change what the graph reads",
            node=node if isinstance(node, ast.Assign) else target,
            confidence=Confidence.HIGH,
            help=f"{text(target)}.copy_({value})" if what == _INPUT else "keep it in a tensor that is written in place",
        )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        node = node_at(event, finding.span, ast.Assign)
        if node is None or len(node.targets) != 1 or not isinstance(node.targets[0], (ast.Name, ast.Attribute)):
            return None
        place = Place(event, node)
        text = f"{place.source(node.targets[0])}.copy_({place.argument(node.value)})"
        return Fix("copy into the input", Applicability.SAFE, (place.replace(node, text),), "")


_INPUT = "the captured graph's input"


def _what(target: ast.expr, node: ast.AST, inputs: set[str]) -> str:
    name = text(target)
    if name in inputs:
        return _INPUT
    if isinstance(target, ast.Attribute) and isinstance(node, ast.Assign) and not name.startswith("self."):
        root = name.partition(".")[0]
        made = text(node.value.func) if isinstance(node.value, ast.Call) else ""
        if root in inputs and (target.attr == "data" or made.endswith("Parameter")):
            return "a tensor that the captured graph reads"
    return ""
