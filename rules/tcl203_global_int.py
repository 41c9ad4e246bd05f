"""TCL203: module-level state that changes between calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from tclint.events import Enter, Store
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.program import Function
from tclint.rules._held import holder, object_of
from tclint.rules._state import changed_globals, changed_reads, inner, reads, settles
from tclint.ruleset.rule import Rule
from tclint.sources.once import only_once
from tclint.sources.tree import position
from tclint.values import Instance


class GlobalInt(Rule):
    """Compiled code reads module-level state that other code changes: one compilation for every new value.

    Dynamo guards on globals it reads. A step counter in a module, `CONFIG["n_iters"]`, `args.step` fail their guard each
    time they change, and unlike a function argument they never become dynamic, whoever changes them: other code between the
    calls, or the compiled code itself (`state.t += 1`); a list that grows fails it at every length,
    whether it is the module's or captured from the function around. Floats that other code changes become dynamic, a flag has two values, and a
    tensor may be replaced by another.

    Bad::

        CONFIG = {"steps": 1}

        def f(x):
            return x * CONFIG["steps"]

        def train(x):
            for n in range(10):
                CONFIG["steps"] = n
                f(x)

    Good::

        def f(x, steps: int):
            return x * steps

    Fix: pass the value as an argument (an integer argument settles after one recompile).
    """

    code, name = "TCL203", "global-int"
    effect, severity = Effect.RECOMPILE, Severity.MEDIUM

    def on_enter(self, event: Enter) -> Iterator[Finding]:
        function = event.enclosing
        if function is None or event.inside:
            return
        counted = dict.fromkeys(event.ask.of_scope(_counted)) if event.module.rebound else {}
        for _, node in reads(function, counted) if counted else ():
            yield self.finding(
                event,
                f"`{ast.unparse(node)}` is module-level state that changes in every call; each new value compiles again",
                node=node,
                confidence=Confidence.HIGH,
                help="pass it as an argument",
            )
        if event.evidence is None:
            yield from self._suspicions(event, function)
            return
        told: set[int] = set()
        for name, node in event.ask.of_function(_free_reads).items() if event.at_entry else ():
            varied = event.evidence.captured(name)
            if varied.hazard:
                told.add(id(node))
                yield self.finding(
                    event,
                    f"`{name}` is captured, and another one from call to call ({varied.said}): the functions share their"
                    " code, and each new value compiles again",
                    node=node,
                    confidence=Confidence.HIGH,
                    help="pass it as an argument",
                )
        for place, node, varied in changed_reads(event):
            if id(node) not in told:
                told.add(id(node))
                what = "module-level state" if place[0] == "global" else "captured"
                yield self.finding(
                    event,
                    f"`{ast.unparse(node)}` is {what}, {varied.said}; each new value compiles again",
                    node=node,
                    confidence=Confidence.HIGH,
                    help="pass it as an argument",
                )

    def on_store(self, event: Store) -> Iterator[Finding]:
        """`state.t += 1` and `CONFIG["t"] += 1` in compiled code."""
        if not event.compiled or event.inside or event.constructing or event.value.python_type not in ("int", "float"):
            return
        place = object_of(event)
        if place is None or isinstance(event.receiver, Instance) and event.ask.is_nn_module(event.receiver.cls):
            return  # TCL202
        if (
            position(event.node) in event.ask.of_scope(only_once)
            or not _counts(event.node)
            or holder(event) != "global"
        ):
            return
        target = event.node.target if isinstance(event.node, ast.AugAssign) else event.node.targets[0]
        yield self.finding(
            event,
            f"`{ast.unparse(target)}` is module-level state that changes in every call; each new value compiles again",
            confidence=Confidence.HIGH,
            help="pass it as an argument, or keep it in a tensor",
        )

    def _suspicions(self, event: Enter, function: Function) -> Iterator[Finding]:
        """What functions of the file change, where nobody is seen to call them between two calls."""
        changed = changed_globals(event.module)
        for name, node in reads(function, changed) if changed else ():
            if not settles(changed[name]):
                yield self.finding(
                    event,
                    f"`{ast.unparse(node)}` is module-level state that functions of the file change; each new value"
                    " would compile again",
                    node=node,
                    confidence=Confidence.LOW,
                    help="pass it as an argument",
                )


def _counts(node: ast.AST) -> TypeGuard[ast.AugAssign | ast.Assign]:
    """Whether a store computes the new number from the old one."""
    if isinstance(node, ast.AugAssign):
        return True
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return False
    old = ast.unparse(node.targets[0])
    return isinstance(node.value, ast.BinOp) and any(
        isinstance(part, (ast.Attribute, ast.Subscript)) and ast.unparse(part) == old for part in ast.walk(node.value)
    )


def _counted(function: ast.AST) -> frozenset[str]:
    """The module-level names that a function itself counts up."""
    parts = list(ast.walk(function))
    declared = {name for node in parts if isinstance(node, ast.Global) for name in node.names}
    return frozenset(
        node.target.id
        for node in parts
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id in declared
        if isinstance(node.value, ast.Constant) and type(node.value.value) is int
    )


def _free_reads(function: Function) -> dict[str, ast.Name]:
    """Where a function first reads each name that is not its own."""
    free = function.free_names() - function.bound_names()
    found: dict[str, ast.Name] = {}
    read = [n for n in inner(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    for node in sorted(read, key=lambda n: (n.lineno, n.col_offset)):
        if node.id in free:
            found.setdefault(node.id, node)
    return found
