"""TCL203: module-level state that changes between calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tclint.events import Enter
from tclint.finding import Confidence, Effect, Finding, Severity
from tclint.program import Assignment, Module
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
            if name in changed and name not in own and where is not None:
                yield self.finding(
                    event,
                    f"`{ast.unparse(where)}` is module-level state that changes between calls; each new value compiles again",
                    node=where,
                    confidence=Confidence.HIGH,
                    help="pass it as an argument",
                )


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


def _changed(module: Module) -> frozenset[str]:
    """The module-level names that functions of the file change: `X`, `X[]` or `X.attr`."""
    known = module.facts.get("changed globals")
    if known is None:
        known = module.facts["changed globals"] = frozenset(_find_changes(module))
    assert isinstance(known, frozenset)
    return known


_STORED = re.compile(rb"(?:\[[^\]\n]*\]|\.\w+)[ \t]*[-+*/|]?=(?!=)")


def _find_changes(module: Module) -> set[str]:
    names = {n for n, d in module.names.items() if isinstance(d, Assignment)}
    found: set[str] = set()
    # Most functions change no global: their text says so faster than their tree.
    lines = [module.data.count(b"\n", 0, place) + 1 for place in _suspects(module.data, names)]
    if lines:
        for function in module.functions:
            first, end = function.lines
            if any(first <= line <= end for line in lines):
                found |= _changes_in(function.node, names)
    return found


def _suspects(data: bytes, names: set[str]) -> Iterator[int]:
    """Where an indented line starts with `global` or with a change of one of the names."""
    for word in (b"global ", *(name.encode() for name in names)):
        place = data.find(word)
        while place >= 0:
            before = data[data.rfind(b"\n", 0, place) + 1 : place]
            if before and not before.strip(b" \t") and (word == b"global " or _STORED.match(data, place + len(word))):
                yield place
            place = data.find(word, place + len(word))


def _changes_in(function: ast.AST, names: set[str]) -> set[str]:
    found: set[str] = set()
    nodes = list(ast.walk(function))
    local = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    declared = {n for g in nodes if isinstance(g, ast.Global) for n in g.names}
    for node in nodes:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        )
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
