"""TCL414: compiling what is compiled already."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, Compile
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.program import Function
from tclint.rules._scope import argument, scope, target_of
from tclint.ruleset.rule import Rule
from tclint.sources.tree import ancestors, nodes
from tclint.values import Compiled, Value


class DoubleCompile(Rule):
    """Compiling a compiled callable again keeps the settings of one of the two calls and silently drops the other's.

    `torch.compile(torch.compile(f, ...), ...)` uses the outer mode and backend only; `torch.compile(model)` after
    `model.compile()` uses the inner ones; a second `model.compile()` replaces the first. And `torch.compile` of a
    compiled module gives a plain function: `state_dict`, `parameters` and `eval` are gone.

    Bad::

        def f(x):
            return x * 2

        fast = torch.compile(torch.compile(f, mode="max-autotune"))

    Good::

        def f(x):
            return x * 2

        fast = torch.compile(f, mode="max-autotune")

    Fix: compile once.

    Blocks that are compiled inside a compiled model are not flagged: they are inlined.
    """

    code, name = "TCL414", "double-compile"
    effect, severity = Effect.SILENT, Severity.LOW
    scope = "eager"
    calls = ("compiled.compile",)

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        first = event.target
        if not isinstance(first, Compiled) or not _certain(event, first, target_of(event)):
            return
        dropped = "these settings are" if first.site.in_place else "its mode and backend are"
        yield self._finding(event, first, dropped)

    def on_call(self, event: Call) -> Iterator[Finding]:
        node = event.node
        first = event.receiver
        func = node.func if isinstance(node, ast.Call) else None
        if isinstance(func, ast.Attribute) and isinstance(first, Compiled) and _certain(event, first, func.value):
            yield self._finding(event, first, "its mode and backend are")

    def _finding(self, event: Compile | Call, first: Compiled, dropped: str) -> Finding:
        here = first.site.path == event.module.path
        where = f"line {first.site.line}" if here else f"{first.site.path}:{first.site.line}"
        return self.finding(
            event,
            f"compiled already ({where}): {dropped} ignored",
            confidence=Confidence.HIGH,
            help="compile once, with the settings you want",
        )


def _certain(event: Compile | Call, first: Compiled, target: ast.expr | None) -> bool:
    """Whether the target was compiled before on every path here, and by another call than this one.

    What an attribute holds is collected from the whole program, this call included: only names and nested calls tell.
    """
    if "except" in event.blocks:
        return False
    here = (event.module.path, getattr(event.node, "lineno", 0))
    if isinstance(target, ast.Call):
        return True
    if not isinstance(target, ast.Name) or (first.site.path, first.site.line) == here:
        return False
    if isinstance(_handed(event, target.id), (ast.Attribute, ast.Subscript)) or _is_asked(event, target):
        return False
    value: Value | None = event.ask.local(target.id)
    return value is None or isinstance(value, Compiled)


def _is_asked(event: Compile | Call, target: ast.Name) -> bool:
    """Whether an `if` around the call, here or in a caller, asks about what is compiled: `if not is_compiled(model):`."""
    places: list[tuple[Function | None, ast.AST | None, set[str]]] = [(event.enclosing, event.node, {target.id})]
    for caller, call in event.ask.calls_here():
        given = [*call.args, *(each.value for each in call.keywords)] if isinstance(call, ast.Call) else []
        places.append((caller.function, call, {each.id for each in given if isinstance(each, ast.Name)}))
    for function, node, handed in places:
        around = ancestors(function.node, node) if function is not None and node is not None else ()
        tests = (each.test for each in around if isinstance(each, ast.If))
        if any(isinstance(part, ast.Name) and part.id in handed for test in tests for part in nodes(test)):
            return True
    return False


def _handed(event: Compile | Call, name: str) -> ast.expr | None:
    """What the caller of the function passes for a parameter."""
    arguments = getattr(scope(event), "args", None)
    _, call = next(event.ask.calls_here(), (None, None))
    if call is None or not isinstance(arguments, ast.arguments):
        return None
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    if names[:1] == ["self"] and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        names.pop(0)
    return argument(call, name, names.index(name) if name in names else -1)
