"""TCL411: `torch.compile` where the project has a wrapper of its own."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Compile
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._scope import callee
from tclint.ruleset.rule import Rule


class RawCompile(Rule):
    """The project demands its own wrapper, and `torch.compile` is called directly.

    Silent until the configuration names the wrapper: `require-compile-wrapper = "mylib.compile.safe_compile"`. Such
    a wrapper is where a team keeps its size limits, time limits and fallbacks; a direct call goes past all of them.
    The wrapper's own body may call `torch.compile`.

    Bad::

        def f(x):
            return x * 2

        fast = torch.compile(f)

    Good::

        from mylib.compile import safe_compile

        def f(x):
            return x * 2

        fast = safe_compile(f)

    Fix: call the wrapper.

    Ignore it in code that has to compile before the wrapper can be imported.
    """

    code, name = "TCL411", "raw-compile"
    effect, severity = Effect.SLOW, Severity.MEDIUM
    scope = "any"

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        settings = getattr(self, "settings", None)
        wrapper: str = settings.require_compile_wrapper if settings is not None else ""
        if not wrapper:
            return
        short = wrapper.rpartition(".")[2]
        called = callee(event.node)
        if called.rpartition(".")[2] not in ("compile", "optimize") or called.rpartition(".")[2] == short:
            return
        function = event.enclosing
        if function is not None and short in function.qualname.split("."):
            return
        yield self.finding(
            event,
            f"`{called}` is called directly; this project compiles through `{wrapper}`",
            confidence=Confidence.HIGH,
            help=f"use `{short}`",
        )
