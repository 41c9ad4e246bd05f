"""TCL201: an expanded tensor crosses into compiled code."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import CompiledCall
from tclint.finding import Confidence, Effect, Finding, Severity
from tclint.rule import Rule
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

    Fix: `repeat` or `.contiguous()`. It copies: worth it for small tensors such as position ids and masks.

    Ignore it where the batch is never 1.
    """

    code, name = "TCL201", "expand-batch-stride"
    effect, severity = Effect.RECOMPILE, Severity.MEDIUM
    scope = "eager"

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        if event.callee.site.dynamic is True:
            return
        for value in (*event.args, *event.keywords.values()):
            tensor = _expanded(value)
            if tensor is None:
                continue
            node = tensor.origin.node if isinstance(tensor.origin.node, ast.AST) else event.node
            yield self.finding(
                event,
                f"`expand` over a size that varies, handed to a compiled callable (line {event.node.lineno}):"  # type: ignore[attr-defined]
                " its strides differ between batch 1 and more, which recompiles the callee",
                node=node,
                # Marked dimensions already cost a program for batch 1; the strides then add at most one.
                confidence=Confidence.LOW if tensor.marks else Confidence.HIGH,
                help="use repeat, or .contiguous() before the call",
            )


def _expanded(value: Value) -> Tensor | None:
    return value if isinstance(value, Tensor) and value.flags & EXPANDED else None
