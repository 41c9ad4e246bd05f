"""TCL210: shapes that vary at a compiled boundary without a mark."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator

from tclint.events import CompiledCall, Enter, variation
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._scope import header
from tclint.ruleset.rule import Rule
from tclint.torch_facts import facts
from tclint.values import RAW, Tensor


class MissingDynamicMark(Rule):
    """The shapes of an argument vary in a way that costs three or more compilations.

    Automatic dynamic shapes make a dimension dynamic once it has changed. Dimensions that start to vary one after the other,
    and sizes 0 and 1 among others, each cost one more compilation. Marks do not travel: what was marked for the model is
    not marked for a block that is compiled by itself (regional compilation). The number of dimensions never is dynamic.

    Bad::

        @torch.compile
        def f(x):
            return x.relu()

        def caller():
            f(torch.randn(4, 10))
            f(torch.randn(8, 10))
            f(torch.randn(8, 12))

    Good::

        @torch.compile(dynamic=True)
        def f(x):
            return x.relu()

        def caller():
            f(torch.randn(4, 10))
            f(torch.randn(8, 10))
            f(torch.randn(8, 12))

    Fix: `torch._dynamo.mark_dynamic(x, dim)` right before the call, for every dimension that varies; `mark_unbacked` where
    batch 1 occurs.
    """

    code, name = "TCL210", "missing-dynamic-mark"
    effect, severity = Effect.RECOMPILE, Severity.MEDIUM
    scope = "any"

    def on_enter(self, event: Enter) -> Iterator[Finding]:
        evidence, site = event.evidence, event.site
        if evidence is None or site is None or not event.at_entry:
            return
        for name, values in evidence.values.items():
            shapes = evidence.shapes(name)
            if len(ranks := {len(s) for s in shapes}) > 1:
                if len(ranks) > variation.SETTLES:
                    yield self._ranks(event, name, len(ranks))
                continue
            if len(shapes) != len(values) or not shapes:
                continue
            marks = frozenset.intersection(*(v.marks for v in values if isinstance(v, Tensor)))
            if not marks and (b"mark_dynamic" in event.module.data or b"mark_unbacked" in event.module.data):
                continue  # marked somehow, through a helper or under a condition: how many programs is not ours to say
            varied = evidence.argument(name)
            if not varied.hazard:
                continue
            yield self.finding(
                event,
                f"the shapes of `{name}` cost {varied.programs} compilations ({varied.said})",
                node=header(event.node),
                confidence=Confidence.HIGH,
                help=f"mark every dimension of `{name}` that varies with torch._dynamo.mark_dynamic before the call",
            )
            return

    def _ranks(self, event: Enter, name: str, count: int) -> Finding:
        return self.finding(
            event,
            f"`{name}` has {count} different numbers of dimensions in the calls in sight; each compiles again",
            node=header(event.node),
            confidence=Confidence.HIGH,
            help="flatten the leading dimensions in the caller: x.reshape(-1, x.shape[-1])",
        )

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        """A block compiled by itself, called in a loop with a tensor that was marked only where the model was entered."""
        node = event.node
        if not event.callee.site.many or event.callee.site.dynamic is not None or not isinstance(node, ast.Call):
            return
        marked = set(_marked_names(event))
        if not marked:
            return
        for argument, value in zip(node.args, event.args, strict=False):
            if (
                isinstance(argument, ast.Name)
                and isinstance(value, Tensor)
                and not value.marks
                and not value.flags & RAW
            ):
                yield self.finding(
                    event,
                    f"`{argument.id}` enters a block that is compiled by itself; the marks made on"
                    f" {', '.join(f'`{n}`' for n in sorted(marked))} do not travel with it",
                    confidence=Confidence.MEDIUM,
                    help=f"mark `{argument.id}` right before the compiled block",
                )
                return


def _marked_names(event: CompiledCall) -> Iterator[str]:
    """Names marked dynamic in the function, but not again in the loop around the call."""
    function = event.enclosing
    line = getattr(event.node, "lineno", 0)
    if function is None:
        return
    marking = event.ask.of_scope(_Marking)
    if line not in marking.loops:  # marked right where it is needed, perhaps by a helper
        yield from marking.names


class _Marking:
    """The names that a function marks dynamic, and the lines of loops that mark something."""

    def __init__(self, root: ast.AST) -> None:
        marks = [n for n in ast.walk(root) if isinstance(n, ast.Call) and "mark" in _called(n)]
        lines = sorted(mark.lineno for mark in marks)
        self.loops: set[int] = set()
        for loop in ast.walk(root) if marks else ():
            if isinstance(loop, (ast.For, ast.While)):
                place = bisect_left(lines, loop.lineno)
                if place < len(lines) and lines[place] <= (loop.end_lineno or 0):
                    self.loops.update(range(loop.lineno, (loop.end_lineno or 0) + 1))
        named = (mark.args[0] for mark in marks if _called(mark) in _MARKS and mark.args)
        self.names = [name.id for name in named if isinstance(name, ast.Name)]


_MARKS = facts.methods("marks a tensor's sizes") - {"mark_static_address"}


def _called(node: ast.Call) -> str:
    func = node.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
