"""TCL201: an expanded tensor crosses into compiled code."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import CompiledCall, Event
from tclint.fixes.places import Place, node_at
from tclint.model.finding import Applicability, Confidence, Edit, Effect, Finding, Fix, Severity, Span
from tclint.ruleset.rule import Rule
from tclint.values import EXPANDED, Tensor, Value


class ExpandBatchStride(Rule):
    """`expand` over the batch gives strides that depend on whether the batch is 1.

    For a batch of 1 the result is contiguous, for more it has stride 0. Inside one graph that does not matter. Handed to a
    separately compiled callable it does: "tensor 'position_ids' stride mismatch at index 0. expected 0, actual 10", and the
    callee is compiled once more.

    Bad::

        @torch.compile
        def block(x, position_ids):
            return x + position_ids

        def caller(x):
            position_ids = torch.arange(x.shape[1]).unsqueeze(0).expand(x.shape[0], -1)
            return block(x, position_ids)

    Good::

        @torch.compile
        def block(x, position_ids):
            return x + position_ids

        def caller(x):
            position_ids = torch.arange(x.shape[1]).unsqueeze(0).repeat(x.shape[0], 1)
            return block(x, position_ids)

    Fix: `repeat` or `.contiguous()`. It copies: worth it for small tensors such as position ids and masks. `--fix`
    writes `repeat` for `unsqueeze(k).expand(…)` over that dimension, `.contiguous()` otherwise.

    Ignore it where the batch is never 1.
    """

    code, name = "TCL201", "expand-batch-stride"
    effect, severity = Effect.RECOMPILE, Severity.MEDIUM
    scope = "eager"

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        if event.callee.site.dynamic is True:
            return
        values = (*event.args, *event.keywords.values())
        expanded = [t for v in values if (t := _expanded(v)) is not None]
        for tensor in expanded:
            node = tensor.origin.node
            if not _expands(node):
                continue  # it came through other hands: nobody knows what they made of it
            yield self.finding(
                event,
                f"`expand` over a size that varies, handed to a compiled callable (line {event.node.lineno}):"  # type: ignore[attr-defined]
                " its strides differ between batch 1 and more, which recompiles the callee",
                node=node,
                # One expanded tensor with marked dimensions costs one more program; two or more multiply.
                confidence=Confidence.LOW if tensor.marks and len(expanded) == 1 else Confidence.HIGH,
                help="use repeat, or .contiguous() before the call",
            )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        node = node_at(event, finding.span, ast.Call)
        if node is None:
            return None
        place = Place(event, node)
        note = "it copies: worth it for small tensors"
        repeated = _repeat(node)
        if repeated is not None:
            func, sizes = repeated
            end = place.span(node)
            start = place.span(func.value)
            text = f".repeat({', '.join('1' if s is None else place.source(s) for s in sizes)})"
            span = Span(start.end_line, start.end_column, end.end_line, end.end_column)
            return Fix("repeat instead of expand", Applicability.SAFE, (Edit(finding.path, span, text),), note)
        return Fix("make it contiguous", Applicability.SAFE, (place.append(node, ".contiguous()"),), note)


def _expands(node: object) -> bool:
    """Whether the place a tensor comes from is the call that expands it."""
    func = node.func if isinstance(node, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr.startswith(("expand", "broadcast_to"))


def _expanded(value: Value) -> Tensor | None:
    return value if isinstance(value, Tensor) and value.flags & EXPANDED else None


def _repeat(node: ast.Call) -> tuple[ast.Attribute, list[ast.expr | None]] | None:
    """The counts of `x.unsqueeze(0).expand(b, -1)`, None for a dimension that stays."""
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr != "expand" or node.keywords:
        return None
    inner = func.value
    if not (isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "unsqueeze"):
        return None
    at = inner.args[0].value if len(inner.args) == 1 and isinstance(inner.args[0], ast.Constant) else None
    sizes = [None if ast.unparse(a) == "-1" else a for a in node.args]
    given = [i for i, size in enumerate(sizes) if size is not None]
    return (func, sizes) if given == [at] and not any(isinstance(a, ast.Starred) for a in node.args) else None
