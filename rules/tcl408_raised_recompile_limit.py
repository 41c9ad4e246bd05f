"""TCL408: a raised recompile limit."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import ModuleEvent
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text

_DEFAULTS = {
    "cache_size_limit": 8,
    "recompile_limit": 8,
    "accumulated_cache_size_limit": 256,
    "accumulated_recompile_limit": 256,
}


class RaisedRecompileLimit(Rule):
    """A higher recompile limit hides recompilations; it does not avoid them.

    After 8 compilations of one function Dynamo gives up and runs it eagerly, with a warning that names the guard
    that failed. A higher limit turns that into more compilations, each of seconds or minutes, and a longer list of
    guards to check at each call. The limit is a count of programs, not a size in memory.

    Bad::

        torch._dynamo.config.cache_size_limit = 64

    Good::

        torch._dynamo.config.error_on_recompile = True  # while looking for the cause

    Fix: run with `TORCH_LOGS=recompiles` and remove the cause: mark the size dynamic, pad, or make the value a
    tensor.

    Ignore it where the number of programs is known and bounded, such as one for each of sixteen buckets.
    """

    code, name = "TCL408", "raised-recompile-limit"
    effect, severity = Effect.SLOW, Severity.LOW
    triggers = (b"cache_size_limit", b"recompile_limit")

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        aliases = _config_names(event.node)
        for node in ast.walk(event.node):
            for name, value, where in _settings(node, aliases):
                if isinstance(value, ast.Constant) and isinstance(value.value, int) and value.value <= _DEFAULTS[name]:
                    continue
                yield self.finding(
                    event,
                    f"`{name}` is raised to {text(value)} (default {_DEFAULTS[name]}): it hides recompilations",
                    node=where,
                    confidence=Confidence.HIGH,
                    help="find the guard that fails with TORCH_LOGS=recompiles",
                )


def _config_names(tree: ast.Module) -> set[str]:
    """The names under which the file reaches torch._dynamo.config."""
    names = {"torch._dynamo.config", "_dynamo.config", "dynamo.config"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {a.asname for a in node.names if a.name == "torch._dynamo.config" and a.asname}
            names |= {f"{a.asname}.config" for a in node.names if a.name == "torch._dynamo" and a.asname}
        elif isinstance(node, ast.ImportFrom) and node.module == "torch._dynamo":
            names |= {a.asname or a.name for a in node.names if a.name == "config"}
    return names


def _settings(node: ast.AST, aliases: set[str]) -> Iterator[tuple[str, ast.expr, ast.AST]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Attribute) and target.attr in _DEFAULTS and text(target.value) in aliases:
                yield target.attr, node.value, node
    elif isinstance(node, ast.Call) and text(node.func) in {f"{alias}.patch" for alias in aliases}:
        for keyword in node.keywords:
            if keyword.arg in _DEFAULTS:
                yield keyword.arg, keyword.value, node
        if len(node.args) == 2 and isinstance(node.args[0], ast.Constant) and node.args[0].value in _DEFAULTS:
            yield str(node.args[0].value), node.args[1], node
