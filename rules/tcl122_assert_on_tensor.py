"""TCL122: asserts on tensors that Dynamo cannot keep."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Assert, Call, Event
from tclint.fixes.places import Place
from tclint.fixes.recipes import quoted, skip_while_compiling
from tclint.model.finding import Applicability, Effect, Finding, Fix, Severity
from tclint.rules._checks import asynchronous
from tclint.rules._messages import constant_text
from tclint.ruleset.rule import Rule, whole_frame
from tclint.torch_facts import facts
from tclint.values import Const, FunctionValue, Instance, Partial, Value, tensor_of
from tclint.values.constant import is_none


class AssertOnTensor(Rule):
    """`assert` on a tensor stays in the graph only with a plain condition and a constant message.

    `assert (ids >= 0).all(), "negative id"` becomes an asynchronous check in the graph, and so does the last operand of
    `and` and `or`. With an f-string as the message, or with a tensor under `not` or as an earlier operand (TCL101), Dynamo
    ends the graph.

    Bad::

        def f(ids):
            assert ids.max() < 100, f"id out of range: {ids.max()}"
            return ids * 2

    Good::

        def f(ids):
            assert ids.max() < 100, "id out of range"
            return ids * 2

    Fix: a constant message; `torch._assert_async(condition)`. `--unsafe-fixes` keeps the constant part of the message:
    wrong where the values in it are needed.
    """

    code, name = "TCL122", "assert-on-tensor"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    graph_breaks = ("GB0170", "GB9158", "GB9840", "GB0034")
    calls = facts.named("checks a condition")
    owns = ("torch._assert",)

    def on_assert(self, event: Assert) -> Iterator[Finding]:
        node = event.node
        assert isinstance(node, ast.Assert)
        tensor = tensor_of(event.test)
        if (
            tensor is None
            or node.msg is None
            or (isinstance(node.msg, ast.Constant) and isinstance(node.msg.value, str))
        ):
            return
        if _is_constant(node.msg):
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
        if message is not None and event.name != "torch._assert" and _cannot_be_converted(message):
            yield self.finding(
                event,
                f"`{event.name}` with a message function that Dynamo cannot convert; the graph breaks here",
                help="use a lambda that captures no tensor",
            )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        place = Place(event)
        node = place.node
        note = "the message no longer shows the values"
        if isinstance(node, ast.Assert) and node.msg is not None:
            text = constant_text(node.msg) or f"failed: {place.source(node.test)}"
            return Fix("use a constant message", Applicability.UNSAFE, (place.replace(node.msg, quoted(text)),), note)
        if not isinstance(event, Call) or not isinstance(node, ast.Call):
            return None
        if event.name.startswith("torch.testing."):
            return skip_while_compiling(event, node, "nothing is checked")
        if tensor_of(event.args[0]) is not None:
            return asynchronous(place, node)
        message = node.args[1] if len(node.args) > 1 else None
        if isinstance(message, ast.Lambda):
            text = constant_text(message.body) or f"failed: {place.source(node.args[0])}"
            return Fix(
                "use a constant message", Applicability.UNSAFE, (place.replace(message.body, quoted(text)),), note
            )
        if isinstance(message, ast.Name):
            text = f"failed: {place.source(node.args[0])}"
            return Fix(
                "use a constant message",
                Applicability.UNSAFE,
                (place.replace(message, f"lambda: {quoted(text)}"),),
                note,
            )
        return None


def _is_constant(message: ast.expr) -> bool:
    """Whether Python makes a constant of it when it compiles the file: a number, or a tuple of such."""
    parts = message.elts if isinstance(message, ast.Tuple) else [message]
    return all(isinstance(each, ast.Constant) or (each is not message and _is_constant(each)) for each in parts)


def _cannot_be_converted(message: Value) -> bool:
    """Whether a message is no function that the region makes: Dynamo writes the code of such a one, and of nothing else."""
    if isinstance(message, FunctionValue):
        made = isinstance(message.function.node, ast.Lambda) or message.function.parent is not None
        return _captures_tensor(message) or not made
    return isinstance(message, (Partial, Instance)) or isinstance(message, Const) and not is_none(message)


def _captures_tensor(value: FunctionValue) -> bool:
    closure = value.closure or {}
    return any(n in closure and tensor_of(closure[n]) is not None for n in value.function.free_names())
