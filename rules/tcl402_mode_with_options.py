"""TCL402: `mode` and `options` together."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.events import Compile
from tclint.model.finding import Effect, Finding, Severity
from tclint.rules._scope import argument, callee
from tclint.ruleset.rule import Rule
from tclint.values import Const, Dict


class ModeWithOptions(Rule):
    """`torch.compile` takes `mode` or `options`; given both, it raises.

    The RuntimeError comes from the call itself, also for `mode="default"` and for empty options. Behind a `try`
    that falls back to eager the model then runs uncompiled and nobody hears of it: one project ran at 792 instead
    of 180 ms for months.

    Bad::

        def f(x):
            return x * 2

        fast = torch.compile(f, mode="reduce-overhead", options={"epilogue_fusion": True})

    Good::

        def f(x):
            return x * 2

        fast = torch.compile(f, options={"triton.cudagraphs": True, "epilogue_fusion": True})

    Fix: write what the mode stands for into the options: `torch._inductor.list_mode_options("reduce-overhead")` says.
    """

    code, name = "TCL402", "mode-with-options"
    effect, severity = Effect.ERROR, Severity.HIGH
    scope = "any"

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        mode, options = event.keywords.get("mode"), event.keywords.get("options")
        if not (isinstance(mode, Const) and mode.value is not None and isinstance(options, Dict)):
            return
        if callee(event.node).rpartition(".")[2] not in ("compile", "partial"):
            return  # a project's own wrapper may well merge them
        yield self.finding(
            event,
            f"`mode={mode.value!r}` together with `options`: torch.compile raises RuntimeError",
            node=argument(event.node, "options"),
            help="give either; list_mode_options(mode) tells what a mode stands for",
        )
