"""TCL305: several runs of a CUDA graph in one step without a mark."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import CompiledCall
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule
from tclint.sources.tree import nodes


class StepMark(Rule):
    """A CUDA-graph callable is entered again in the same step without `cudagraph_mark_step_begin()`.

    In training, a second forward before the first one's backward leaves pending backwards behind: Inductor cannot tell where
    a step begins and falls off its fast path. A policy rule, off by default: turn it on where a project marks its steps.

    Bad::

        def caller(net, batches):
            net = torch.compile(net, mode="reduce-overhead")
            for x in batches:
                y = net(x).sum() + net(x + 1).sum()

    Good::

        def caller(net, batches):
            net = torch.compile(net, mode="reduce-overhead")
            for x in batches:
                torch.compiler.cudagraph_mark_step_begin()
                y = net(x).sum() + net(x + 1).sum()

    Fix: mark the step once, in the helper through which all calls go. The mark does not keep earlier outputs alive (TCL301).
    """

    code, name = "TCL305", "step-mark"
    effect, severity = Effect.SLOW, Severity.LOW
    default = False
    scope = "eager"

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[str, str, object], int] = {}

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        function = event.enclosing
        if not event.callee.site.cudagraphs or function is None:
            return
        key = (event.module.path, function.qualname, event.callee.key)
        place = getattr(event.node, "lineno", 0) * 4096 + getattr(event.node, "col_offset", 0)
        first = self._seen.setdefault(key, place)
        markers = {"cudagraph_mark_step_begin"}
        if self.settings is not None:
            markers.update(m.rpartition(".")[2] for m in self.settings.cudagraph.step_markers)
        looped = event.grad is not False and any(b in ("for", "while") for b in event.blocks)
        mentioned = event.ask.of_scope(_mentioned)
        again = first != place or (looped and "backward" not in mentioned)
        if not again or not markers.isdisjoint(mentioned):
            return
        yield self.finding(
            event,
            "a CUDA-graph callable is entered again in this function without cudagraph_mark_step_begin()",
            confidence=Confidence.MEDIUM,
            help="call torch.compiler.cudagraph_mark_step_begin() before the step",
        )


def _mentioned(root: ast.AST) -> frozenset[str]:
    """The names and attributes that a function mentions."""
    return frozenset(
        n.attr if isinstance(n, ast.Attribute) else n.id
        for n in nodes(root)
        if isinstance(n, (ast.Attribute, ast.Name))
    )
