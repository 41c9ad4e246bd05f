"""TCL122: asserts on tensors that Dynamo cannot keep."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Assert, Call
from tclint.finding import Effect, Finding, Severity
from tclint.rule import Rule, whole_frame
from tclint.values import FunctionValue, tensor_of


class AssertOnTensor(Rule):
    """`assert` on a tensor stays in the graph only with a plain condition and a constant message.

    `assert (ids >= 0).all(), "negative id"` becomes an asynchronous check in the graph. With an f-string as the message,
    or with `not`, `and`, `or` in the condition (TCL101), Dynamo ends the graph.

    Bad::

        def f(ids):
            assert ids.max() < 100, f"id out of range: {ids.max()}"
            return ids * 2

    Good::

        def f(ids):
            assert ids.max() < 100, "id out of range"
            return ids * 2

    Fix: a constant message; `torch._assert_async(condition)`.
    """

    code, name = "TCL122", "assert-on-tensor"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    graph_breaks = ("GB0170", "GB9158", "GB9840", "GB0034")
    calls = ("torch._check", "torch._check_is_size", "torch._check_value", "torch._check_index", "torch._assert", "torch.testing.*")

    def on_assert(self, event: Assert) -> Iterator[Finding]:
        node = event.node
        assert isinstance(node, ast.Assert)
        tensor = tensor_of(event.test)
        if tensor is None or node.msg is None or (isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str)):
            return
        if isinstance(node.msg, ast.Constant):
            yield self.finding(
                event,
                "an assert with a message that is no string: torch.compile raises here",
                node=node.test,
                about=tensor,
                effect=Effect.ERROR,
                help="use a string",
            )
            return
        yield self.finding(
            event,
            f"an assert on a tensor with a message that is not a constant string; Dynamo breaks the graph{whole_frame(event)}",
            node=node.test,
            about=tensor,
            help="use a constant message",
        )

    def on_call(self, event: Call) -> Iterator[Finding]:
        if event.name.startswith("torch.testing."):
            yield self.finding(
                event,
                f"`{event.name}` compares values; Dynamo breaks the graph here{whole_frame(event)}",
                help="check in the caller",
            )
            return
        condition = event.args[0] if event.args else None
        tensor = tensor_of(condition) if condition is not None else None
        if tensor is not None:
            yield self.finding(
                event,
                f"`{event.name}` on a tensor reads its value; Dynamo breaks the graph here{whole_frame(event)}",
                about=tensor,
                help="use torch._assert_async(condition)",
            )
            return
        message = event.arg(1, "message")
        if isinstance(message, FunctionValue) and event.name != "torch._assert":
            node = message.function.node
            local = _captures_tensor(message)
            if local or (not isinstance(node, ast.Lambda) and message.function.parent is None):
                yield self.finding(
                    event,
                    f"`{event.name}` with a message function that Dynamo cannot convert; the graph breaks here",
                    help="use a lambda that captures no tensor",
                )


def _captures_tensor(value: FunctionValue) -> bool:
    closure = value.closure or {}
    return any(n in closure and tensor_of(closure[n]) is not None for n in value.function.free_names())
