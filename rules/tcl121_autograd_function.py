"""TCL121: custom autograd functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, Event
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule, whole_frame
from tclint.values import INPUT, NO_GRADIENT, ClassValue, Object, Value, tensor_of

_CONTEXT = frozenset(
    "save_for_backward mark_dirty mark_non_differentiable set_materialize_grads save_for_forward needs_input_grad "
    "saved_tensors".split()
)


class AutogradFunction(Rule):
    """A `torch.autograd.Function` that Dynamo cannot inline.

    Plain `forward`/`backward` pairs are traced. A custom `jvp` or `vjp`, a `ctx` that is stored outside, other methods of
    `ctx`, the same tensor passed twice, or a `forward` or `backward` that is a class method end the graph.

    Bad::

        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * x

            @staticmethod
            def vjp(ctx, g):
                return g

        def f(x):
            return Square.apply(x) + 1

    Good::

        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return 2 * g * x

        def f(x):
            return Square.apply(x) + 1

    Fix: keep to `forward`, `backward` and `ctx.save_for_backward`.
    """

    code, name = "TCL121", "autograd-function"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    graph_breaks = ("GB0144", "GB0145", "GB0139", "GB0019", "GB6297", "GB7312")
    calls = ("torch.autograd.Function.apply", "torch.autograd.FunctionCtx.*")

    def on_call(self, event: Call) -> Iterator[Finding]:
        if event.name.startswith("torch.autograd.FunctionCtx."):
            if event.method not in _CONTEXT:
                yield self._finding(event, f"`ctx.{event.method}`")
            return
        owner = event.receiver.args if isinstance(event.receiver, Object) else None
        if not isinstance(owner, ClassValue):
            return
        for name in ("jvp", "vjp"):
            if event.ask.method(owner.cls, name) is not None:
                yield self._finding(event, f"an autograd.Function with a custom `{name}`")
                return
        for name in ("forward", "backward"):
            method = event.ask.method(owner.cls, name)
            if method is not None and _is_class_method(method.node) and any(_has_gradient(a) for a in event.args):
                yield self._finding(
                    event, f"`{name}` of the autograd.Function is a class method, which cannot be bound"
                )
                return
        if isinstance(event.node, ast.Call):
            names = [a.id for a in event.node.args if isinstance(a, ast.Name)]
            if len(names) != len(set(names)):
                yield self._finding(event, "the same tensor is passed twice to an autograd.Function")
                return
        forward = event.ask.method(owner.cls, "forward")
        if forward is not None and _context_escapes(forward.node):
            yield self._finding(event, "the `ctx` of this autograd.Function is stored outside")

    def _finding(self, event: Event, what: str) -> Finding:
        return self.finding(
            event,
            f"{what}; Dynamo breaks the graph here{whole_frame(event)}",
            confidence=Confidence.HIGH,
            help="keep to static forward and backward, and to ctx.save_for_backward",
        )


def _has_gradient(value: Value) -> bool:
    """Whether a tensor is computed in the region, by layers as a rule: of an argument nobody knows that it needs a gradient.

    Without one Dynamo runs `forward` as any function, and binds it as it is.
    """
    tensor = tensor_of(value)
    return tensor is not None and not tensor.flags & (INPUT | NO_GRADIENT) and tensor.dtype not in ("i", "b")


def _is_class_method(node: ast.AST) -> bool:
    decorators = node.decorator_list if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    return any(isinstance(each, ast.Name) and each.id == "classmethod" for each in decorators)


def _context_escapes(node: ast.AST) -> bool:
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or not node.args.args:
        return False
    context = node.args.args[0].arg
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Name) and inner.value.id == context:
            return any(isinstance(t, (ast.Subscript, ast.Attribute)) for t in inner.targets)
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "append":
            if any(isinstance(a, ast.Name) and a.id == context for a in inner.args):
                return True
    return False
