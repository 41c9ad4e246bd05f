"""TCL203: module-level state that changes between calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.finding import Confidence, Effect, Finding, Severity
from tclint.events import Enter
from tclint.program import Module
from tclint.rule import Rule


class GlobalInt(Rule):
    """Compiled code reads a module-level number that other code changes: one compilation for every new value.

    Dynamo guards on globals it reads. A step counter in a module, `CONFIG["n_iters"]`, `args.step` fail their guard each
    time they change, and unlike a function argument they never become dynamic.

    Bad::

        CONFIG = {"steps": 1}

        def set_steps(n):
            CONFIG["steps"] = n

        def f(x):
            return x * CONFIG["steps"]

    Good::

        def f(x, steps: int):
            return x * steps

    Fix: pass the value as an argument (an integer argument settles after one recompile).
    """

    code, name = "TCL203", "global-int"
    effect, severity = Effect.RECOMPILE, Severity.MEDIUM

    def on_enter(self, event: Enter) -> Iterator[Finding]:
        changed = _changed(event.frame.module)
        if not changed or event.frame.function is None:
            return
        node = event.frame.function.node
        own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for read in ast.walk(node):
            name, where = _read(read)
            if name in changed and name not in own and where is not None and _numeric(event, read):
                yield self.finding(
                    event,
                    f"`{ast.unparse(where)}` is module-level state that changes between calls; each new value compiles again",
                    node=where,
                    confidence=Confidence.HIGH,
                    help="pass it as an argument",
                )


def _numeric(event: Enter, node: ast.AST) -> bool:
    return True


def _read(node: ast.AST) -> tuple[str, ast.expr | None]:
    """A read of NAME, NAME["key"] or NAME.attr."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load):
        if isinstance(node.slice, ast.Constant):
            return f"{node.value.id}[]", node
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load):
        return f"{node.value.id}.{node.attr}", node
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return node.id, node
    return "", None


_CACHE: dict[str, frozenset[str]] = {}


def _changed(module: Module) -> frozenset[str]:
    """The module-level names that functions of the file change: `X`, `X[]` or `X.attr`."""
    key = f"{module.path}\\0{len(module.data)}\\0{hash(module.data)}"
    known = _CACHE.get(key)
    if known is None:
        known = _CACHE[key] = frozenset(_find_changes(module))
    return known


def _find_changes(module: Module) -> set[str]:
    from tclint.program import Assignment

    names = {n for n, d in module.names.items() if isinstance(d, Assignment)}
    found: set[str] = set()
    if not names:
        return found
    for function in ast.walk(module.tree):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        local = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        declared = {n for g in ast.walk(function) if isinstance(g, ast.Global) for n in g.names}
        for node in ast.walk(function):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
            for target in targets:
                if isinstance(target, ast.Name) and target.id in declared & names:
                    found.add(target.id)
                elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                    if target.value.id in names - local and isinstance(target.slice, ast.Constant):
                        found.add(f"{target.value.id}[]")
                elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                    if target.value.id in names - local:
                        found.add(f"{target.value.id}.{target.attr}")
    return found
