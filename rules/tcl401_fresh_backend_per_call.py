"""TCL401: a backend made anew for each compilation."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Compile
from tclint.model.finding import Effect, Finding, Severity
from tclint.rules._scope import LOOPS, argument, inside, result_name, scope, target_of
from tclint.ruleset.rule import Rule
from tclint.sources.tree import ancestors, nodes, text
from tclint.values import FunctionValue, Instance, Partial

_MAKERS = ("functools.partial", "partial", "aot_autograd")
_PER_STEP = ("forward", "__call__", "step", "training_step", "validation_step", "train_step")


class FreshBackendPerCall(Rule):
    """A backend built anew for each `torch.compile` is a new backend to Dynamo: one more compilation each time.

    Compiled code belongs to the backend object that made it (guard `___check_obj_id`). A lambda, a nested function,
    a `partial` or `aot_autograd(...)` in a loop or in a function that runs at every step is never the same object
    twice. Compiling the same function again with the same backend, mode or equal options costs nothing: it hits the
    cache.

    Bad::

        def double(x):
            return x * 2

        def run(batches):
            for x in batches:
                torch.compile(double, backend=lambda graph, inputs: graph.forward)(x)

    Good::

        def double(x):
            return x * 2

        def plain(graph, inputs):
            return graph.forward

        def run(batches):
            for x in batches:
                torch.compile(double, backend=plain)(x)

    Fix: define the backend once at module level; better, compile once outside the loop.

    Ignore it in a test that wants a fresh compilation each time.
    """

    code, name = "TCL401", "fresh-backend-per-call"
    effect, severity = Effect.RECOMPILE, Severity.HIGH
    scope = "eager"

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        node = argument(event.node, "backend")
        if node is None:
            return
        where = _repeats(event)
        if where is None:
            return
        what = _fresh(event, node, where)
        if not what:
            return
        yield self.finding(
            event,
            f"{what} is a new backend for each compilation; every one compiles again",
            node=node,
            help="define the backend once, outside, or compile once",
        )


def _repeats(event: Compile) -> ast.AST | None:
    """The code that runs again and again and compiles the same thing each time: a loop, or the whole function."""
    root = scope(event)
    target = target_of(event)
    names = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)} if target is not None else set()
    loops = [n for n in ancestors(root, event.node) if isinstance(n, LOOPS)]
    if loops:
        varies = names & _bound(loops[-1])
        return None if varies and not isinstance(event.target, Instance) else loops[-1]
    function = event.enclosing
    if function is None or isinstance(function.node, ast.Lambda):
        return None
    arguments = function.node.args
    if names & {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)} - {"self"}:
        return None
    if any(block in ("for", "while") for caller in event.ask.callers() for block in caller.blocks):
        return function.node
    bound = result_name(root, event.node)
    runs = bound in event.ask.of_scope(_called) if bound and function.name in _PER_STEP else False
    return function.node if runs else None


def _called(root: ast.AST) -> frozenset[str]:
    """What a function calls, as it is written."""
    return frozenset(text(n.func) for n in nodes(root) if isinstance(n, ast.Call))


def _bound(loop: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _fresh(event: Compile, node: ast.expr, where: ast.AST) -> str:
    value = event.keywords.get("backend")
    if isinstance(node, ast.Lambda):
        return "a lambda"
    if isinstance(node, ast.Call):
        made = text(node.func)
        nested = isinstance(value, FunctionValue) and value.function.parent is not None
        known = made in _MAKERS or made.endswith(".aot_autograd") or isinstance(value, Partial)
        return f"the result of `{made}(…)`" if nested or known else ""
    if isinstance(node, ast.Name) and isinstance(value, FunctionValue):
        function = value.function
        same_file = function.module.path == event.module.path
        if same_file and inside(function.node, where) and not isinstance(where, ast.Module):
            return f"`{node.id}`, defined in here," if function.parent is not None else ""
    return ""
