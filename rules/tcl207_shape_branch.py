"""TCL207: branches on sizes that go both ways."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tclint.events import Branch, Call, variation
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._answers import COMPARED, Answers
from tclint.ruleset.rule import Rule
from tclint.values import Const, Evidence, Scalar, Value


class ShapeBranch(Rule):
    """A branch on a size that is taken both ways: each side is a program of its own, and a size stays fixed.

    `if x.shape[1] > 128` is no graph break: Dynamo guards on the answer. Where calls fall on both sides, each gets its own
    compilation; `while x.shape[1] > 4` makes one for every number of turns; and arithmetic such as
    `int(x.shape[1]).bit_length()` pins the size to one value.

    Bad::

        @torch.compile
        def pool(x):
            if x.shape[1] > 128:
                return x.mean(1)
            return x.sum(1)

        def train():
            return pool(torch.randn(2, 64)), pool(torch.randn(2, 96)), pool(torch.randn(2, 256))

    Good::

        @torch.compile
        def pool(x):
            return x.mean(1)

        def train():
            return pool(torch.randn(2, 64)), pool(torch.randn(2, 96)), pool(torch.randn(2, 256))

    Fix: pad to one side, or choose in the caller between two compiled functions.

    Said with medium confidence or more only where the calls in sight fall on both sides.
    """

    code, name = "TCL207", "shape-branch"
    effect, severity = Effect.RECOMPILE, Severity.LOW
    subjects = {"branch": (Scalar,)}
    calls = ("number.bit_length",)

    def on_branch(self, event: Branch) -> Iterator[Finding]:
        test = event.test
        node = event.node
        if not (
            isinstance(test, Scalar) and test.source == "size" and isinstance(node, ast.Compare) and len(node.ops) == 1
        ):
            return
        evidence = event.evidence
        confidence = Confidence.LOW
        if evidence is not None:
            given: list[object] | None = None
            outcomes = _outcomes(event, node, evidence)
            if event.keyword == "while":
                sizes = _numbers(event, node.left, evidence) or _numbers(event, node.comparators[0], evidence) or []
                if len(set(sizes)) > variation.SETTLES:
                    yield self.finding(
                        event,
                        f"`while {ast.unparse(node)}` is unrolled{_said(event, node, evidence)}:"
                        " each number of turns compiles again",
                        confidence=Confidence.HIGH,
                        help="loop in eager code around a compiled step, or pad to few sizes",
                    )
                return
            if outcomes is not None and not _costly(outcomes, event.site is not None and event.site.dynamic is True):
                return
            if outcomes is None:
                answers = Answers(event)
                given = answers.of(node)
                if given is not None and answers.programs([[bool(each) for each in given]]) <= variation.SETTLES:
                    return
            if outcomes is not None or given is not None:
                confidence = Confidence.HIGH
        said = _said(event, node, evidence) if evidence is not None else ""
        yield self.finding(
            event,
            f"`{ast.unparse(node)}` is a branch on a size{said}: calls on both sides of it compile twice",
            confidence=confidence,
            help="pad to one side, or choose between two compiled functions in the caller",
        )

    def on_call(self, event: Call) -> Iterator[Finding]:
        values: list[Value] = [*event.args]
        if event.receiver is not None:
            values.append(event.receiver)
        confidence, said = variation.of_sizes(event, values)
        if confidence is not None:
            yield self.finding(
                event,
                f"`{event.method}` pins a size to one value{variation.told(said)}: each new size compiles again",
                confidence=confidence,
                help="compute it in the caller and pass it",
            )


def _costly(outcomes: Sequence[tuple[int, int, bool]], dynamic: bool) -> bool:
    """Whether the calls cost more than two programs: one for the first size as it is, one for each side of the branch."""
    first = outcomes[0][:2]
    later = {answer for *sides, answer in outcomes if tuple(sides) != first}
    return len({answer for *_, answer in outcomes}) > 1 and (dynamic or len(later) + 1 > variation.SETTLES)


def _said(event: Branch, node: ast.Compare, evidence: Evidence) -> str:
    """The sizes that the calls in sight pass."""
    for part in ast.walk(node):
        if isinstance(part, (ast.Name, ast.Subscript, ast.Call)):
            value = event.ask.evaluate(part)
            if isinstance(value, Scalar) and value.source == "size" and value.ref is not None:
                return variation.told(evidence.sized(*value.ref))
    return ""


def _outcomes(event: Branch, node: ast.Compare, evidence: Evidence) -> list[tuple[int, int, bool]] | None:
    """Both sides of a comparison and its answers over the calls seen, None where a side cannot be computed."""
    compare = COMPARED.get(type(node.ops[0]))
    left = _numbers(event, node.left, evidence)
    right = _numbers(event, node.comparators[0], evidence)
    if compare is None or left is None or right is None:
        return None
    n = max(len(left), len(right))
    if len(left) == 1:
        left = left * n
    if len(right) == 1:
        right = right * n
    return [(a, b, compare(a, b)) for a, b in zip(left, right, strict=False)]


_ARITHMETIC: Final[dict[type[ast.operator], Callable[[int, int], int]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def _numbers(event: Branch, node: ast.expr, evidence: Evidence) -> list[int] | None:
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        left, right = _numbers(event, node.left, evidence), _numbers(event, node.right, evidence)
        if left is None or right is None or (0 in right and isinstance(node.op, (ast.FloorDiv, ast.Mod))):
            return None
        n = max(len(left), len(right))
        left, right = (side * n if len(side) == 1 else side for side in (left, right))
        return [_ARITHMETIC[type(node.op)](a, b) for a, b in zip(left, right, strict=False)]
    value = event.ask.evaluate(node)
    if isinstance(value, Const) and isinstance(value.value, int):
        return [value.value]
    if isinstance(value, Scalar) and value.ref is not None and value.source == "size":
        sizes = evidence.sizes(*value.ref)
        return sizes or None
    return None
