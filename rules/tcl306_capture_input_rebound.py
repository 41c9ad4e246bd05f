"""TCL306: the static input of a captured graph is rebound."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Event, ModuleEvent
from tclint.fixes.places import Place, node_at
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.rules._captures import captures, replay_lines, scope_of
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text


class CaptureInputRebound(Rule):
    """The name of a captured graph's input is bound to a new tensor before `replay()`: the graph still reads the old one.

    A CUDA graph remembers addresses. `static_x = x` changes what the name means, not what the graph reads: the result is
    silently that of the old input.

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
    triggers = (b"cuda.graph(",)

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        for capture in captures(event.node):
            after = capture.block.end_lineno or 0
            for function in scope_of(capture):
                replays = replay_lines(capture, function)
                if not replays:
                    continue
                for node in ast.walk(function):
                    if not isinstance(node, ast.Assign) or (function is capture.function and node.lineno <= after):
                        continue
                    for target in node.targets:
                        if text(target) in capture.inputs and max(replays) >= node.lineno:
                            yield self.finding(
                                event,
                                f"`{text(target)}` is the captured graph's input; binding the name to a new tensor does not"
                                " change what the graph reads",
                                node=node,
                                confidence=Confidence.HIGH,
                                help=f"{text(target)}.copy_({text(node.value)})",
                            )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        node = node_at(event, finding.span, ast.Assign)
        if node is None or len(node.targets) != 1 or not isinstance(node.targets[0], (ast.Name, ast.Attribute)):
            return None
        place = Place(event, node)
        text = f"{place.source(node.targets[0])}.copy_({place.argument(node.value)})"
        return Fix("copy into the input", Applicability.SAFE, (place.replace(node, text),), "")
