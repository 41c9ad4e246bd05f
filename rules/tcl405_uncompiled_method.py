"""TCL405: another method of a compiled module."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.program import Function
from tclint.ruleset.rule import Rule
from tclint.values import Compiled, FunctionValue, Instance, Object, Value


class UncompiledMethod(Rule):
    """Only `forward` of a compiled module is compiled: `compiled.encode(x)` runs eager.

    `torch.compile(model)` wraps the call. Every other method is looked up on the original module and runs as it is,
    also where it calls `self(...)` or `self.forward(...)`: `self` is the uncompiled module there. After
    `model.compile()` a method that calls `self(...)` does run the compiled code, and is not flagged; `model.forward(x)` runs
    eager there, as it is the call that is compiled.

    Bad::

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = torch.nn.Linear(4, 4)

            def forward(self, x):
                return self.inner(x).relu()

            def encode(self, x):
                return self.inner(x).sigmoid()

        net = torch.compile(Net())
        code = net.encode(torch.ones(2, 4))

    Good::

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = torch.nn.Linear(4, 4)

            def forward(self, x):
                return self.inner(x).relu()

            def encode(self, x):
                return self.inner(x).sigmoid()

        net = Net()
        encode = torch.compile(net.encode)
        code = encode(torch.ones(2, 4))

    Fix: compile the method, `net.encode = torch.compile(net.encode)` or `@torch.compile` on it, or go through
    `forward`.

    Ignore it where the method is not on the hot path. Methods that run no submodule of their own are not flagged.
    """

    code, name = "TCL405", "uncompiled-method"
    effect, severity = Effect.SILENT, Severity.MEDIUM
    scope = "eager"
    calls = ("compiled.*",)

    def on_call(self, event: Call) -> Iterator[Finding]:
        receiver = event.receiver
        if not isinstance(receiver, Compiled) or not isinstance(receiver.target, Instance):
            return
        method = event.ask.method(receiver.target.cls, event.method)
        if method is None or event.method.startswith("__"):
            return
        decorated = event.ask.decorated(method)
        if not isinstance(decorated, FunctionValue) or decorated.function is not method:
            return  # compiled by itself, disabled, or wrapped
        if not _runs_the_model(event, method, receiver.target, receiver.site.in_place):
            return
        what = f"`{event.method}` of a compiled module runs eager"
        if event.method == "forward":
            why, repair = "`m.compile()` compiles the call of the module", "call the module: `m(x)`"
        else:
            why = "torch.compile compiles `forward` only"
            repair = f"compile it too: `m.{event.method} = torch.compile(m.{event.method})`"
        yield self.finding(event, f"{what}: {why}", confidence=Confidence.HIGH, help=repair)


def _runs_the_model(event: Call, method: Function, instance: Instance, in_place: bool) -> bool:
    """Whether a method calls the module or one of its parts."""
    arguments = method.node.args
    first = next(iter((*arguments.posonlyargs, *arguments.args)), None)
    if first is None:
        return False
    attributes = event.ask.attributes(instance)
    runs = False
    for node in ast.walk(method.node):
        if not isinstance(node, ast.Call):
            continue
        func = node.func
        if isinstance(func, ast.Name) and func.id == first.arg:
            if in_place:
                return False
            runs = True
        elif isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == first.arg:
            runs = runs or func.attr == "forward" or _is_module(event, attributes.get(func.attr))
    return runs


def _is_module(event: Call, value: Value | None) -> bool:
    if isinstance(value, Instance):
        return event.ask.is_nn_module(value.cls)
    return isinstance(value, Object) and value.name.startswith("torch.nn.")
