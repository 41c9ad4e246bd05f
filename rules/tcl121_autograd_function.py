"""TCL121: custom autograd functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Attribute, Call, Event
from tclint.fixes.places import Place
from tclint.model.finding import Applicability, Confidence, Edit, Effect, Finding, Fix, Severity, Span
from tclint.program import Function
from tclint.rules import _language
from tclint.ruleset.rule import Rule, whole_frame
from tclint.sources.tree import Position, bound_on_self, own, position
from tclint.torch_facts import facts
from tclint.values import INPUT, NO_GRADIENT, ClassValue, External, Instance, Object, Value, tensor_of

_CONTEXT = frozenset(
    "save_for_backward mark_dirty mark_non_differentiable set_materialize_grads save_for_forward needs_input_grad "
    "saved_tensors".split()
)
_PLAIN: Final = "keep to static forward and backward, and to ctx.save_for_backward"
_MISSING: Final = "GB0088"
_UNFILLED: Final = frozenset(facts.named("is an attribute of a ctx that Dynamo does not fill"))


class AutogradFunction(Rule):
    """A `torch.autograd.Function` that Dynamo cannot inline.

    Plain `forward`/`backward` pairs are traced. A custom `jvp` or `vjp`, a `ctx` that is stored outside, other methods of
    `ctx`, its old name `ctx.saved_variables`, the same tensor passed twice, an object made of the class, or a `forward` or
    `backward` that is a class method end the graph.

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

    Fix: keep to `forward`, `backward` and `ctx.save_for_backward`. `--fix` reads `ctx.saved_tensors`; `--unsafe-fixes` calls a
    `vjp` `backward`, leaves a `jvp` out, and passes a view where a tensor is given twice.
    """

    code, name = "TCL121", "autograd-function"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    graph_breaks = ("GB0144", "GB0145", "GB0139", "GB0019", "GB6297", "GB7312", "GB6215")
    calls = ("torch.autograd.Function.apply", "torch.autograd.FunctionCtx.*")

    def on_call(self, event: Call) -> Iterator[Finding]:
        if event.name.startswith("torch.autograd.FunctionCtx."):
            if event.method not in _CONTEXT and not _is_kept(event):
                yield self._finding(event, f"`ctx.{event.method}`")
            return
        owner = event.receiver.args if isinstance(event.receiver, Object) else None
        if not isinstance(owner, ClassValue):
            return
        if held := _language.told(_held(event), self.release):
            yield self._finding(event, held)
            return
        if event.keywords:
            yield from self._of_language(event, "apply() of a Function by keyword")
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
        gradient = any(_has_gradient(each) for each in event.args)
        for name in ("forward", "backward") if gradient else ("forward",):
            if _is_no_function(event, owner, name):
                yield from self._of_language(event, "forward of a Function that is no function")
                return
        if isinstance(event.node, ast.Call):
            names = [a.id for a in event.node.args if isinstance(a, ast.Name)]
            if len(names) != len(set(names)):
                yield self._finding(event, "the same tensor is passed twice to an autograd.Function")
                return
        forward = event.ask.method(owner.cls, "forward")
        if forward is not None and _context_escapes(forward.node):
            yield self._finding(event, "the `ctx` of this autograd.Function is stored outside")
        elif forward is not None and gradient:
            if _dirty(forward.node) - _returned(forward.node):
                yield from self._of_language(event, "mark_dirty of what is not returned")
            for name in sorted(_written(forward.node)):
                yield from self._of_language(event, f"{name} of a ctx")

    def on_attribute(self, event: Attribute) -> Iterator[Finding]:
        if not isinstance(event.receiver, Object) or f"{event.receiver.name}.{event.name}" not in _UNFILLED:
            return
        if event.enclosing is not None and position(event.node) in event.ask.of_function(_taken_apart):
            what = f"`ctx.{event.name}`, which holds nothing there, is taken apart"
            yield self._finding(event, what, "use `ctx.saved_tensors`", self.ids(_MISSING))

    def _of_language(self, event: Event, name: str) -> Iterator[Finding]:
        if words := _language.told(name, self.release):
            yield self._finding(event, words)

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        if isinstance(event, Attribute):
            return _of_today(event)
        assert isinstance(event, Call)
        owner = event.receiver.args if isinstance(event.receiver, Object) else None
        if not isinstance(owner, ClassValue):
            return None
        return _backward(event, owner) or _forward_mode(event, owner) or _twice(event)

    def _finding(
        self, event: Event, what: str, help: str = _PLAIN, graph_breaks: tuple[str, ...] | None = None
    ) -> Finding:
        return self.finding(
            event,
            f"{what}; Dynamo breaks the graph here{whole_frame(event)}",
            confidence=Confidence.HIGH,
            help=help,
            graph_breaks=graph_breaks,
        )


def _held(event: Call) -> str:
    """How the program came by the `apply` that it calls, by its name in the facts; nothing where it asks the class for it."""
    func = event.node.func if isinstance(event.node, ast.Call) else None
    if not isinstance(func, ast.Attribute) or not isinstance(owner := event.ask.evaluate(func.value), Instance):
        return ""
    if func.attr == "apply":
        return "apply() of an instance of a Function"
    return f"apply() of a Function that {'a module' if event.ask.is_nn_module(owner.cls) else 'an object'} holds"


def _taken_apart(function: Function) -> frozenset[Position]:
    """Where the attributes stand that a function unpacks or takes an element of."""
    inside = list(own(function.node))
    parts = [n.value for n in inside if isinstance(n, ast.Assign) and isinstance(n.targets[0], (ast.Tuple, ast.List))]
    parts += [n.value for n in inside if isinstance(n, ast.Subscript)]
    return frozenset(position(part) for part in parts if isinstance(part, ast.Attribute))


def _is_kept(event: Call) -> bool:
    """Whether `forward` has put what is called on the context: `ctx.run = run`. It may be handed on to a function."""
    classes = dict.fromkeys(cls for cls in (event.cls, *(each.cls for each in event.ask.callers())) if cls is not None)
    keepers = [event.ask.method(cls, name) for cls in classes for name in ("forward", "setup_context")]
    return any(keeper is not None and event.method in keeper.node_index(bound_on_self) for keeper in keepers)


def _has_gradient(value: Value) -> bool:
    """Whether a tensor is computed in the region, by layers as a rule: of an argument nobody knows that it needs a gradient.

    Without one Dynamo runs `forward` as any function, and binds it as it is.
    """
    tensor = tensor_of(value)
    return tensor is not None and not tensor.flags & (INPUT | NO_GRADIENT) and tensor.dtype not in ("i", "b")


def _is_class_method(node: ast.AST) -> bool:
    decorators = node.decorator_list if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    return any(isinstance(each, ast.Name) and each.id == "classmethod" for each in decorators)


def _is_no_function(event: Call, owner: ClassValue, name: str) -> bool:
    """Whether a class has an object that can be called, or a partial, where a function is expected."""
    held = next((each for each in event.ask.mro(owner.cls) if name in each.assignments or name in each.methods), None)
    if held is None or name in held.methods:
        return False
    made = getattr(held.module.node(held.assignments[name].ordinal), "value", None)
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and made.func.id == "staticmethod" and made.args:
        made = made.args[0]
    if not isinstance(made, ast.Call) or held.module is not event.module:
        return False
    what = event.ask.evaluate(made.func)
    return isinstance(what, ClassValue) or isinstance(what, External) and what.name == "functools.partial"


def _written(node: ast.AST) -> frozenset[str]:
    """The attributes of its first parameter that a function writes."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or not node.args.args:
        return frozenset()
    found = (each for each in ast.walk(node) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store))
    context = node.args.args[0].arg
    return frozenset(each.attr for each in found if isinstance(each.value, ast.Name) and each.value.id == context)


def _dirty(node: ast.AST) -> frozenset[str]:
    """The names that a function hands to `ctx.mark_dirty`."""
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)]
    marks = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "mark_dirty"]
    return frozenset(each.id for call in marks for each in call.args if isinstance(each, ast.Name))


def _returned(node: ast.AST) -> frozenset[str]:
    """The names that a function returns as they are."""
    values = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
    parts = [part for value in values for part in (value.elts if isinstance(value, ast.Tuple) else [value])]
    return frozenset(part.id for part in parts if isinstance(part, ast.Name))


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


def _of_today(event: Attribute) -> Fix | None:
    """`ctx.saved_tensors` for `ctx.saved_variables`, which torch has been giving with a warning."""
    place = Place(event)
    node = place.node
    if not isinstance(node, ast.Attribute):
        return None
    edit = place.replace(node, f"{place.source(node.value)}.saved_tensors")
    return Fix("use `saved_tensors`", Applicability.SAFE, (edit,), "")


def _backward(event: Call, owner: ClassValue) -> Fix | None:
    """`def backward` for `def vjp`, which is another name of it."""
    method = event.ask.method(owner.cls, "vjp")
    if method is None or method.module.path != event.module.path or event.ask.method(owner.cls, "backward") is not None:
        return None
    place = Place(event, method.node)
    line = method.node.lineno
    start = place.lines[line - 1].find("def vjp(") + len("def ")
    if start < len("def ") or not isinstance(method.node, ast.FunctionDef):
        return None
    edit = Edit(place.path, Span(line, start + 1, line, start + 1 + len("vjp")), "backward")
    note = "wrong where somebody calls `vjp` by its name"
    return Fix("call it `backward`", Applicability.UNSAFE, (edit,), note)


def _forward_mode(event: Call, owner: ClassValue) -> Fix | None:
    """A class without its `jvp`."""
    method = event.ask.method(owner.cls, "jvp")
    if method is None or method.module.path != event.module.path or event.ask.method(owner.cls, "backward") is None:
        return None
    node = method.node
    edit = Place(event, node).remove_definition(node) if isinstance(node, ast.FunctionDef) else None
    note = "forward-mode differentiation is no longer there"
    return Fix("leave `jvp` out", Applicability.UNSAFE, (edit,), note) if edit is not None else None


def _twice(event: Call) -> Fix | None:
    """`Add.apply(h, h.view_as(h))` for `Add.apply(h, h)`: two tensors of one storage."""
    place = Place(event)
    node = place.node
    if not isinstance(node, ast.Call):
        return None
    seen: set[str] = set()
    edits = []
    for argument in node.args:
        if isinstance(argument, ast.Name):
            if argument.id in seen:
                edits.append(place.replace(argument, f"{argument.id}.view_as({argument.id})"))
            seen.add(argument.id)
    note = "wrong where the function asks whether two of its arguments are one"
    return Fix("pass a view the second time", Applicability.UNSAFE, tuple(edits), note) if edits else None
