"""TCL312: a CUDA-graph callable called past its helper."""

from __future__ import annotations

import ast
import fnmatch
from collections.abc import Iterator

from tclint.events import CompiledCall
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule


class BypassesCloneHelper(Rule):
    """A callable that the project allows only through its clone helper is called directly.

    Speaks only where `[tool.tclint.cudagraph.only-through]` names the callable and its helpers. One helper that marks the
    step, calls and clones keeps the rule about CUDA-graph outputs (TCL301) in one place.

    Bad::

        # [tool.tclint.cudagraph.only-through]
        # "*.lensnet" = ["_run_lensnet_batched"]
        def step(self, x):
            return self.lensnet(x).sum()

    Good::

        def step(self, x):
            return self._run_lensnet_batched(x).sum()

    Fix: call the helper.
    """

    code, name = "TCL312", "bypasses-clone-helper"
    effect, severity = Effect.CUDAGRAPH, Severity.MEDIUM
    scope = "eager"

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        allowed = self.settings.cudagraph.only_through if self.settings is not None else {}
        if not allowed or not isinstance(event.node, ast.Call):
            return
        called = ast.unparse(event.node.func)
        function = event.enclosing.name if event.enclosing is not None else "<module>"
        for pattern, helpers in allowed.items():
            if fnmatch.fnmatch(called, pattern) and not any(fnmatch.fnmatch(function, h) for h in helpers):
                yield self.finding(
                    event,
                    f"`{called}` is called directly; this project calls it only through {', '.join(helpers)}",
                    confidence=Confidence.HIGH,
                    help=f"call {helpers[0]}",
                )
                return
