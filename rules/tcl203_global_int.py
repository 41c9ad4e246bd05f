"""TCL203: module-level state that changes between calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Enter
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._state import changed_captures, changed_globals, reads, settles
from tclint.ruleset.rule import Rule


class GlobalInt(Rule):
    """Compiled code reads module-level state that other code changes: one compilation for every new value.

    Dynamo guards on globals it reads. A step counter in a module, `CONFIG["n_iters"]`, `args.step` fail their guard each
    time they change, and unlike a function argument they never become dynamic; a list that grows fails it at every length,
    whether it is the module's or captured from the function around. Floats become dynamic, a flag has two values, and a
    tensor may be replaced by another.

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
        function = event.enclosing
        if function is None or event.inside:
            return
        outside = {
            "module-level state": changed_globals(event.module),
            # A captured number becomes dynamic; what a list or a dict holds does not.
            "captured": {n: v for n, v in changed_captures(function).items() if n.endswith((")", "]"))},
        }
        for where, changed in outside.items():
            told: set[int] = set()
            for name, node in reads(function, changed) if changed else ():
                if settles(changed[name]) or id(node) in told:
                    continue  # a float matters where an operation burns it in: TCL204
                told.add(id(node))
                yield self.finding(
                    event,
                    f"`{ast.unparse(node)}` is {where}, and changes between calls; each new value compiles again",
                    node=node,
                    confidence=Confidence.HIGH,
                    help="pass it as an argument",
                )
