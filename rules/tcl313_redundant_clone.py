"""TCL313: cloning what a clone helper already cloned."""

from __future__ import annotations

import ast
import fnmatch
from collections.abc import Iterator

from tclint.events import Call
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule


class RedundantClone(Rule):
    """`.clone()` of a value that came from a clone helper: a second copy that hides the invariant.

    Speaks only where `[tool.tclint.cudagraph] clone-helpers` names the helpers.

    Bad::

        # [tool.tclint.cudagraph]
        # clone-helpers = ["run_cloned"]
        def step(self, x):
            return self.run_cloned(x).clone()

    Good::

        def step(self, x):
            return self.run_cloned(x)

    Fix: drop the clone.
    """

    code, name = "TCL313", "redundant-clone"
    effect, severity = Effect.SLOW, Severity.LOW
    scope = "eager"
    calls = ("Tensor.clone", "?.clone")

    def on_call(self, event: Call) -> Iterator[Finding]:
        helpers = self.settings.cudagraph.clone_helpers if self.settings is not None else ()
        node = event.node
        if not helpers or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return
        inner = node.func.value
        if not isinstance(inner, ast.Call):
            return
        name = ast.unparse(inner.func).rpartition(".")[2]
        if any(fnmatch.fnmatch(name, h.rpartition(".")[2]) for h in helpers):
            yield self.finding(
                event,
                f"`{name}` already returns a copy; this clones it again",
                confidence=Confidence.HIGH,
                help="drop the clone",
            )
