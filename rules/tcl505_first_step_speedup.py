"""TCL505: a speed-up that compares the compilation with the steps after it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tclint.events import ModuleEvent
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule
from tclint.sources.tree import FUNCTIONS, own, text
from tclint.torch_facts import facts

_MEANS = facts.named("averages")
_WORDS = ("time", "duration", "elapsed", "latenc", "_ms", "seconds", "step")
_TAIL = re.compile(rb"\[1:\]")


class FirstStepSpeedup(Rule):
    """The first step over the average of the rest measures the compiler, not the speed-up.

    The first call of a compiled function compiles. Its time divided by that of the later calls says how long the
    compiler took (a report claimed 345x that way); what compiling gained is the time of an eager step over that of
    a warmed-up one.

    Bad::

        def report(times):
            return times[0] / (sum(times[1:]) / len(times[1:]))

    Good::

        def report(eager_times, compiled_times):
            eager = sum(eager_times[1:]) / len(eager_times[1:])
            return eager / (sum(compiled_times[1:]) / len(compiled_times[1:]))

    Fix: time the eager model too (`TORCHDYNAMO_DISABLE=1`), after a warm-up of both.

    Ignore it where the number is printed as what it is, the cost of the first step.
    """

    code, name = "TCL505", "first-step-speedup"
    effect, severity = Effect.SILENT, Severity.MEDIUM
    triggers = (b"[1:]",)

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        if not _has_times(event.module.data):
            return
        scopes = [event.node, *(n for n in ast.walk(event.node) if isinstance(n, FUNCTIONS))]
        for scope in scopes:
            bound = {
                text(n.targets[0]): n.value for n in own(scope) if isinstance(n, ast.Assign) and len(n.targets) == 1
            }
            for node in own(scope):
                if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
                    continue
                first = _first(bound.get(text(node.left), node.left))
                if first and _rest(bound.get(text(node.right), node.right), bound) == first and _is_time(first):
                    yield self.finding(
                        event,
                        f"`{first}[0]` includes the compilation; its ratio to the later steps is no speed-up",
                        node=node,
                        confidence=Confidence.HIGH,
                        help="compare an eager step with a warmed-up compiled one",
                    )


def _has_times(data: bytes) -> bool:
    """What a file must hold to be worth a walk: the later elements of a list of times, and the first."""
    for match in _TAIL.finditer(data):
        before = re.search(rb"\w*$", data[max(0, match.start() - 60) : match.start()])
        if before is not None and _is_time(before[0].decode("ascii", "replace")) and before[0] + b"[0]" in data:
            return True
    return False


def _is_time(name: str) -> bool:
    return any(word in name.lower() for word in _WORDS)


def _first(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == 0:
        return text(node.value)
    return ""


def _rest(node: ast.expr, bound: dict[str, ast.expr]) -> str:
    """The list whose later elements are averaged: `mean(times[1:])`, `sum(times[1:]) / len(times[1:])`."""
    if isinstance(node, ast.Call) and text(node.func).rpartition(".")[2] in _MEANS and node.args:
        return _tail(bound.get(text(node.args[0]), node.args[0]))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and isinstance(node.left, ast.Call):
        total = node.left
        if text(total.func) == "sum" and total.args:
            return _tail(bound.get(text(total.args[0]), total.args[0]))
    return ""


def _tail(node: ast.expr) -> str:
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
        return ""
    lower = node.slice.lower
    if isinstance(lower, ast.Constant) and isinstance(lower.value, int) and lower.value >= 1:
        return text(node.value)
    return ""
