"""TCL208: Python loops over a tensor dimension."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Loop, variation
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._answers import Answers
from tclint.ruleset.rule import Rule
from tclint.values import RAW, Const, Scalar, Seq, Tensor


class ShapeLoop(Rule):
    """A Python loop over a dimension is unrolled into the graph: one compilation for every length, and a long one.

    `for t in range(x.shape[1])` and `for row in x` put one copy of the body into the graph for each step. The length is
    burnt in: every new one compiles again.

    Bad::

        @torch.compile
        def decay(x):
            total = x[:, 0]
            for t in range(x.shape[1]):
                total = total * 0.5 + x[:, t]
            return total

        def train():
            return decay(torch.randn(2, 8)), decay(torch.randn(2, 9)), decay(torch.randn(2, 10))

    Good::

        @torch.compile
        def decay(x):
            return x.cumsum(1)[:, -1]

        def train():
            return decay(torch.randn(2, 8)), decay(torch.randn(2, 9)), decay(torch.randn(2, 10))

    Fix: a batched op (`cumsum`, `unbind` with a fixed length, `torch.scan`), or the loop in eager code around a compiled
    step.

    Said with medium confidence or more only where the calls in sight vary the length.
    """

    code, name = "TCL208", "shape-loop"
    effect, severity = Effect.RECOMPILE, Severity.MEDIUM

    def on_loop(self, event: Loop) -> Iterator[Finding]:
        values = event.iterable
        evidence = event.evidence
        node = event.node.iter if isinstance(event.node, ast.For) else event.node
        if not isinstance(node, ast.expr):
            return
        lengths: list[int] | None = None
        said = ""
        walked = _unbound(event, node)
        if walked is not None:
            lengths = evidence.sizes(*walked) if evidence is not None else None
        elif isinstance(values, Tensor):
            if values.flags & RAW and evidence is not None:
                lengths = evidence.sizes(values.base, 0)
        elif isinstance(values, Seq) and values.kind == "range" and values.length == "size":
            lengths = _range_lengths(event, node)
        else:
            return
        if lengths:
            if len(set(lengths)) <= variation.SETTLES:
                return
            confidence = Confidence.HIGH
            assert evidence is not None
            said = f"{evidence.places} with {', '.join(map(str, list(dict.fromkeys(lengths))[:3]))}, … turns"
        else:
            confidence = Confidence.LOW
        yield self.finding(
            event,
            f"a loop over `{ast.unparse(node)}` is unrolled{variation.told(said)}: each new length compiles again",
            node=node,
            confidence=confidence,
            help="use a batched op, or loop in eager code around a compiled step",
        )


def _unbound(event: Loop, node: ast.expr) -> tuple[str, int] | None:
    """The argument and the dimension that `x.unbind(1)` walks, perhaps reversed, counted, or beside something else."""
    parts = [node]
    while parts:
        part = parts.pop(0)
        if not isinstance(part, ast.Call):
            continue
        if isinstance(part.func, ast.Name):
            parts += part.args
        elif isinstance(part.func, ast.Attribute) and part.func.attr == "unbind":
            value = event.ask.evaluate(part.func.value)
            given = part.args if isinstance(value, Tensor) else part.args[1:]
            value = value if isinstance(value, Tensor) else event.ask.evaluate(part.args[0]) if part.args else value
            dim = next((k.value for k in part.keywords if k.arg == "dim"), given[0] if given else None)
            place = event.ask.evaluate(dim) if dim is not None else Const(0)
            if isinstance(value, Tensor) and value.flags & RAW and isinstance(place, Const):
                return (value.base, place.value) if type(place.value) is int else None
    return None


def _range_lengths(event: Loop, node: ast.expr) -> list[int] | None:
    if event.evidence is None or not isinstance(node, ast.Call) or not node.args:
        return None
    answers = Answers(event)
    bounds = [answers.of(each) for each in node.args]
    if isinstance(node.func, ast.Name) and node.func.id == "range" and all(bound is not None for bound in bounds):
        return [len(range(*row)) for row in zip(*(bound for bound in bounds if bound is not None), strict=True)]
    value = event.ask.evaluate(node.args[min(1, len(node.args) - 1)])
    if isinstance(value, Scalar) and value.ref is not None:
        return event.evidence.sizes(*value.ref)
    return None
