"""TCL420: what torch.compile returns is thrown away."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Compile
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._scope import scope, target_of
from tclint.ruleset.rule import Rule
from tclint.sources.tree import ancestors, text
from tclint.values.region import DROPPED


class CompileResultDropped(Rule):
    """`torch.compile(model)` as a statement of its own compiles nothing: what it returns is compiled, `model` stays as it is.

    `torch.compile` changes nothing in what it is given. It returns a callable that compiles at its first call; where nobody keeps
    that, everything runs eagerly, and nothing says so.

    Bad::

        model = torch.nn.TransformerEncoderLayer(8, 2)
        torch.compile(model, mode="max-autotune")
        model(torch.ones(3, 1, 8))

    Good::

        model = torch.nn.TransformerEncoderLayer(8, 2)
        model = torch.compile(model, mode="max-autotune")
        model(torch.ones(3, 1, 8))

    Fix: keep it, `model = torch.compile(model)`. A module compiles itself in place with `model.compile()`.

    A call that is made to see whether it raises (under `pytest.raises`, or of a lambda in a `try`) is not flagged.
    """

    code, name = "TCL420", "compile-result-dropped"
    effect, severity = Effect.SILENT, Severity.HIGH
    scope = "eager"

    def on_compile(self, event: Compile) -> Iterator[Finding]:
        target = target_of(event)
        if event.begun.idle != DROPPED or _is_tried(event, target):
            return
        given = text(target) if isinstance(target, (ast.Name, ast.Attribute)) else ""
        stays = f"`{given}` stays as it is and runs eager" if given else "what it was given runs eager"
        keep = f"`{given} = torch.compile({given})`" if given else "keep what it returns"
        yield self.finding(
            event,
            f"what `torch.compile` returns is thrown away: {stays}",
            confidence=Confidence.HIGH,
            help=f"{keep}; a module compiles itself in place with `.compile()`",
        )


_EXPECTS: Final = ("raises", "warns")
"""How the names of contexts end in which a call is made to see what becomes of it: `pytest.raises`, `self.assertRaises`."""


def _is_tried(event: Compile, target: ast.expr | None) -> bool:
    """Whether a call is made to see if it raises: in a test that expects that, or of something that is made for it."""
    around = ancestors(scope(event), event.node)
    contexts = (
        item.context_expr for each in around if isinstance(each, (ast.With, ast.AsyncWith)) for item in each.items
    )
    called = (text(each.func) for each in contexts if isinstance(each, ast.Call))
    if any(name.lower().endswith(_EXPECTS) for name in called):
        return True
    named = isinstance(target, (ast.Name, ast.Attribute))
    return not named and any(isinstance(each, ast.Try) for each in around)
