"""TCL504: `torch.jit.trace` over data-dependent control flow."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from tclint.events import ModuleEvent
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.program import Import
from tclint.ruleset.rule import Rule
from tclint.sources.tree import FUNCTIONS, ancestors, nodes, own, text
from tclint.torch_facts import facts
from tclint.values import ClassValue, FunctionValue, Value

_VALUES: Final = facts.named("answers about a tensor's values")
_SELF: Final = facts.named("gives the module itself")


# `import traceback` is no reason to look.
_TRACES = re.compile(rb"jit\.trace\(|import[^\n]*\btrace\b")


class TraceDataDependent(Rule):
    """`torch.jit.trace` records the branch that the example took, and takes it for every input from then on.

    Tracing runs the function once and writes down the tensor operations. An `if` on a tensor's value is not among
    them: the traced function is silently wrong for inputs that would go the other way. (A TracerWarning is printed
    once.)

    Bad::

        def f(x):
            if x.sum() > 0:
                return x * 2
            return x

        traced = torch.jit.trace(f, torch.ones(2))

    Good::

        def f(x):
            return torch.where(x.sum() > 0, x * 2, x)

        traced = torch.jit.trace(f, torch.ones(2))

    Fix: `torch.where`, `torch.jit.script`, or `torch.compile`, which breaks the graph there and stays right.

    Ignore it where every input takes the branch of the example.
    """

    code, name = "TCL504", "trace-data-dependent"
    effect, severity = Effect.SILENT, Severity.HIGH
    triggers = (b"jit.trace(", b"import trace")

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        if not _TRACES.search(event.module.data):
            return
        names = {n for n, d in event.module.names.items() if isinstance(d, Import) and d.attribute == "trace"}
        for node in nodes(event.node):
            if not isinstance(node, ast.Call) or not node.args or not _is_trace(event, node.func, names):
                continue
            function = _traced(event, node.args[0], node)
            branch = _branch(function) if function is not None else None
            if branch is None:
                continue
            yield self.finding(
                event,
                f"the traced code branches on a tensor (`{text(branch)}`): only the example's branch is kept",
                node=node,
                confidence=Confidence.HIGH,
                help="use torch.where, torch.jit.script or torch.compile",
            )


def _is_trace(event: ModuleEvent, func: ast.expr, names: set[str]) -> bool:
    if isinstance(func, ast.Attribute):
        return func.attr == "trace" and text(func) == "torch.jit.trace"
    return isinstance(func, ast.Name) and func.id in names and _global(event, func) == "torch.jit.trace"


def _global(event: ModuleEvent, node: ast.expr) -> str:
    value = _lookup(event, node)
    return getattr(value, "name", "") if value is not None else ""


def _lookup(event: ModuleEvent, node: ast.expr) -> Value | None:
    if not isinstance(node, ast.Name):
        return None
    return event.ask.module_value(node.id)


def _traced(event: ModuleEvent, node: ast.expr, place: ast.expr) -> ast.AST | None:
    """The function or forward that is traced, where the program has it; names mean what they mean at this place."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SELF:
        node = node.func.value
    if isinstance(node, ast.Name):
        chain = ancestors(event.node, place)
        around = [n for n in chain if isinstance(n, FUNCTIONS)]
        for scope in (*reversed(around), event.node):
            for statement in own(scope):
                if isinstance(statement, ast.FunctionDef) and statement.name == node.id:
                    return statement
            made = [
                s.value
                for s in own(scope)
                if isinstance(s, ast.Assign) and s.lineno < place.lineno and text(s.targets[0]) == node.id
            ]
            if made:
                return _traced(event, made[-1], made[-1]) if isinstance(made[-1], ast.Call) else None
        return _forward(event, _lookup(event, node))
    if isinstance(node, ast.Call):
        value = _lookup(event, node.func)
        return _forward(event, value) if isinstance(value, ClassValue) else None
    return None


def _forward(event: ModuleEvent, value: Value | None) -> ast.AST | None:
    if isinstance(value, FunctionValue):
        return value.function.node
    if isinstance(value, ClassValue):
        method = event.ask.method(value.cls, "forward")
        return method.node if method is not None else None
    return None


def _branch(function: ast.AST) -> ast.expr | None:
    """The first condition that reads the values of a parameter."""
    arguments = getattr(function, "args", None)
    if not isinstance(arguments, ast.arguments):
        return None
    parameters = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)} - {"self", "cls"}
    tensors = set(parameters)
    for node in own(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _reads(node.value, parameters):
            tensors.add(node.targets[0].id)
        if isinstance(node, (ast.If, ast.While, ast.IfExp)) and _reads(node.test, tensors):
            return node.test
    return None


def _reads(node: ast.expr, names: set[str]) -> bool:
    for inner in ast.walk(node):
        func = inner.func if isinstance(inner, ast.Call) else None
        if not isinstance(inner, ast.Call) or not isinstance(func, ast.Attribute) or func.attr not in _VALUES:
            continue
        base = func.value
        if text(base) == "torch":
            base = inner.args[0] if inner.args else base
        if any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(base)) and not _only_shapes(base):
            return True
    return False


def _only_shapes(node: ast.expr) -> bool:
    return any(
        isinstance(n, ast.Attribute) and n.attr in facts.named("is known without the values") for n in ast.walk(node)
    )
