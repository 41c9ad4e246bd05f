"""TCL511: cached functions in compiled code."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import ProgramCall
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.program import Function, Import
from tclint.ruleset.rule import Rule
from tclint.sources.tree import text
from tclint.torch_facts import facts
from tclint.values import FunctionValue

_BUILDS = facts.named("builds a table")


class LruCacheInRegion(Rule):
    """A function under `functools.lru_cache` called in compiled code: Dynamo ignores the cache, and warns.

    The wrapped function is traced as if it were not cached. What it builds, a table of sines say, becomes part of
    the graph and is computed in every call, where eager code computed it once; and what it returns is not the
    cached object.

    Bad::

        @functools.lru_cache(maxsize=8)
        def table(n):
            return torch.arange(n).float().sin()

        def f(x):
            return x + table(4)

    Good::

        def table(n):
            return torch.arange(n).float().sin()

        TABLE = table(4)

        def f(x):
            return x + TABLE

    Fix: compute it once outside: a buffer, a module constant, an argument.

    Where the cached function builds no tensor the result is folded while tracing and only the warning remains: the
    confidence is low. Versions: 2.6 and later.
    """

    code, name = "TCL511", "lru-cache-in-region"
    effect, severity = Effect.SLOW, Severity.LOW
    owns = ("functools.lru_cache",)
    subjects = {"program_call": (FunctionValue,)}
    torch = ">=2.6"

    def on_program_call(self, event: ProgramCall) -> Iterator[Finding]:
        value = event.function
        if not isinstance(value, FunctionValue) or not _is_cached(value.function):
            return
        builds = _builds_tensors(value.function.node)
        yield self.finding(
            event,
            f"`{value.function.name}` is cached by functools; Dynamo ignores the cache"
            + (" and builds its tensors each time it is called" if builds else ""),
            confidence=Confidence.MEDIUM if builds else Confidence.LOW,
            help="compute it once, outside the region",
        )


def _is_cached(function: Function) -> bool:
    if function.parent is not None and isinstance(function.node, ast.Lambda):
        return False
    for decorator in function.decorators:
        name = text(decorator.func if isinstance(decorator, ast.Call) else decorator)
        if name in ("functools.lru_cache", "functools.cache"):
            return True
        imported = function.module.named(name)
        if name in ("lru_cache", "cache") and isinstance(imported, Import) and imported.target == "functools":
            return True
    return False


def _builds_tensors(node: ast.AST) -> bool:
    return any(
        isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr in _BUILDS
        and text(n.func.value) == "torch"
        for n in ast.walk(node)
    )
