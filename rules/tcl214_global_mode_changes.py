"""TCL214: global modes that change around a compiled call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, CompiledCall, Event
from tclint.finding import Confidence, Effect, Finding, Severity
from tclint.rule import Rule


class GlobalModeChanges(Rule):
    """Autocast with a dtype that varies, a changed number of threads, or a reset of the compiler between calls.

    Dynamo guards on the autocast state, grad mode and number of threads; `torch.compiler.reset()` throws every program away.

    Bad::

        @torch.compile
        def g(x):
            return x.relu()

        def caller(x):
            torch.compiler.reset()
            return g(x)

    Good::

        @torch.compile
        def g(x):
            return x.relu()

        def caller(x):
            return g(x)

    Fix: one mode for all calls; set threads and reset once, at start-up.
    """

    code, name = "TCL214", "global-mode-changes"
    effect, severity = Effect.RECOMPILE, Severity.MEDIUM
    scope = "eager"
    calls = ("torch.compiler.reset", "torch._dynamo.reset", "torch.set_num_threads")

    def __init__(self) -> None:
        super().__init__()
        self._pending: dict[tuple[str, str], list[Event]] = {}

    def on_call(self, event: Call) -> Iterator[Finding]:
        node = event.node
        if (
            event.name == "torch.set_num_threads"
            and isinstance(node, ast.Call)
            and isinstance(node.args[0], ast.Constant)
        ):
            return
        if event.frame.function is not None:
            key = (event.module.path, event.frame.function.qualname)
            self._pending.setdefault(key, []).append(event)
        return
        yield

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        if event.frame.function is None:
            return
        for pending in self._pending.get((event.module.path, event.frame.function.qualname), ()):
            assert isinstance(pending, Call)
            yield self.finding(
                pending,
                f"`{pending.name}` before a compiled call in the same function: every call compiles again",
                confidence=Confidence.HIGH,
                help="do it once, at start-up",
            )
        for node in _enclosing_autocast(event):
            yield self.finding(
                event,
                f"called under autocast with a dtype that varies (line {node.lineno}); each dtype compiles again",
                confidence=Confidence.HIGH,
                help="use one autocast dtype for all calls",
            )


def _enclosing_autocast(event: CompiledCall) -> Iterator[ast.With]:
    function = event.frame.function
    line = getattr(event.node, "lineno", 0)
    assert function is not None
    for node in ast.walk(function.node):
        if not isinstance(node, ast.With) or not node.lineno <= line <= (node.end_lineno or 0):
            continue
        for item in node.items:
            call = item.context_expr
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "autocast":
                dtype = next((k.value for k in call.keywords if k.arg == "dtype"), None)
                if dtype is not None and not isinstance(dtype, ast.Attribute):
                    yield node
