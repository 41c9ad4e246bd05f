"""TCL210: shapes that vary at a compiled boundary without a mark."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from tclint.events import Compile, CompiledCall, Enter, Event
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.program import Function
from tclint.rules._scope import header
from tclint.ruleset.rule import Rule
from tclint.sources.tree import nodes
from tclint.torch_facts import facts
from tclint.values import RAW, Const, Evidence, Object, Tensor


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
        if evidence is None or site is None or not event.at_entry or _by_choice(evidence, site.dynamic):
            return
        yield from self._told(event, evidence, header(event.node))

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        """`dynamic=False` where the sizes differ: without it they would become dynamic."""
        dynamic = event.keywords.get("dynamic")
        if not isinstance(dynamic, Const) or event.evidence is None or not _by_choice(event.evidence, dynamic.value):
            return
        evidence = event.evidence
        costs = evidence.together(_tensors(evidence))
        name = next(name for name in _tensors(evidence) if costs.blames(name))
        yield self.finding(
            event,
            f"`dynamic=False`, and the calls in sight pass other sizes: {costs.programs} compilations"
            f" ({evidence.shown(name)})",
            confidence=Confidence.HIGH,
            help="leave `dynamic` out, or pad to a few sizes",
        )

    def _told(self, event: Event, evidence: Evidence, node: ast.AST) -> Iterator[Finding]:
        names = _tensors(evidence)
        known = [value for name in names for value in evidence.values[name] if isinstance(value, Tensor)]
        marks = any(value.marks for value in known)
        marking = any(word in event.module.data for word in (b"mark_dynamic", b"mark_unbacked"))
        if marking and not marks:
            return  # marked somehow, through a helper or under a condition: how many programs is not ours to say
        costs = evidence.together(names)
        if not costs.hazard:
            yield from self._with_others(event, evidence, names, node)
            return
        name = max(names, key=lambda name: len(costs.blames(name)))
        aspect = _aspect(costs.blames(name))
        if aspect == "requires_grad" and event.compiled:
            return  # TCL213
        what, help_ = _WORDS[aspect]
        yield self.finding(
            event,
            f"{what} `{name}` differs from call to call: {costs.programs} compilations ({evidence.shown(name, aspect)})",
            node=node,
            confidence=Confidence.HIGH,
            help=help_,
        )

    def _with_others(self, event: Event, evidence: Evidence, names: Sequence[str], node: ast.AST) -> Iterator[Finding]:
        """A batch that is not full, a state that is None at first, evaluation between epochs: none costs much by itself."""
        function = event.enclosing if event.compiled else None
        read = event.ask.of_function(_names_read) if function is not None else frozenset(evidence.values)
        costs = evidence.everything([name for name in evidence.values if name in read])
        name = next((name for name in names if any(".size(" in each for each in costs.blames(name))), None)
        others = [each for each in evidence.values if each not in names and each in read]
        told = [f"`{each}`" for each in others if evidence.together([each]).programs > 1]
        if evidence.mode.programs > 1:
            told.append("the modes in force")
        if costs.hazard and name is not None and told and not evidence.mode.hazard:
            if evidence.together(others).hazard:
                return  # TCL213
            yield self.finding(
                event,
                f"the shape of `{name}` differs from call to call, and so {'does' if len(told) == 1 else 'do'}"
                f" {' and '.join(told)}: {costs.programs} compilations ({evidence.shown(name, 'size()')}"
                f"{f'; {evidence.mode.said}' if evidence.mode.programs > 1 else ''})",
                node=node,
                confidence=Confidence.HIGH,
                help="drop_last=True or pad the last batch; mark the dimension with torch._dynamo.mark_dynamic",
            )

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        """A block compiled by itself, called in a loop with a tensor that was marked only where the model was entered."""
        node = event.node
        evidence = event.evidence
        if isinstance(event.callee.target, Object) and evidence is not None:
            # A module of torch: its forward is nobody's to read, so that the call stands for it.
            if evidence.is_first(event.module.path, node) and not _by_choice(evidence, event.callee.site.dynamic):
                yield from self._told(event, evidence, node)
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


def _names_read(function: Function) -> frozenset[str]:
    """The names that a function reads: an argument that it never touches is not guarded."""
    return frozenset(n.id for n in nodes(function.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))


def _tensors(evidence: Evidence) -> list[str]:
    """The arguments that are tensors in every call in sight."""
    return [name for name, values in evidence.values.items() if values and all(isinstance(v, Tensor) for v in values)]


def _by_choice(evidence: Evidence, dynamic: object) -> bool:
    """Whether it is `dynamic=False` that makes the calls costly."""
    if dynamic is not False:
        return False
    names = _tensors(evidence)
    return evidence.together(names).hazard and not evidence.together(names, None).hazard


def _aspect(blamed: Sequence[str]) -> str:
    """What of an argument differs, the plainest thing first."""
    joined = " ".join(blamed)
    for aspect in ("dtype", "dim()", "requires_grad"):
        if f".{aspect}" in joined:
            return aspect
    if "type(" in joined:
        return "type"
    return "stride()" if ".stride()" in joined and ".size(" not in joined else "size()"


_WORDS: Final = {
    "dtype": (
        "the dtype of",
        "cast in the caller, so that all calls have one dtype; a warm-up for each takes its share of the recompile limit",
    ),
    "dim()": (
        "the number of dimensions of",
        "flatten the leading dimensions in the caller: x.reshape(-1, x.shape[-1])",
    ),
    "requires_grad": ("whether a gradient is required of", "ask for the same gradients in every call"),
    "type": ("whether a parameter is passed for", "compile a function apart for parameters and for plain tensors"),
    "stride()": ("the memory layout of", "call .contiguous() in the caller"),
    "size()": (
        "the shape of",
        "mark every dimension that varies with torch._dynamo.mark_dynamic before the call, or pad to a few shapes",
    ),
}
"""What differs, as a message says it, and what to do about it."""


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
