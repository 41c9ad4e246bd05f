"""TCL215: a cache that starts as None and grows by concatenation."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule
from tclint.values import Tensor


class GrowingCache(Rule):
    """A key-value cache that is None at first and then grows with `torch.cat`: three programs and a moving shape.

    One program for None, one for the first length, one dynamic. From a non-empty start the growth settles after one
    recompile; a static cache needs one program for all.

    Bad::

        @torch.compile
        def attend(x, cache=None):
            cache = x if cache is None else torch.cat([cache, x], dim=1)
            return cache.sum(1)

        def train():
            a, b, c = torch.randn(2, 6, 8), torch.randn(2, 1, 8), torch.randn(2, 7, 8)
            return attend(a, None), attend(b, a), attend(b, c)

    Good::

        @torch.compile
        def attend(x, cache, position):
            cache.index_copy_(1, position, x)
            return cache.sum(1)

        def train(x, cache, position):
            return attend(x, cache, position)

    Fix: a static cache with `index_copy_`; or start from an empty tensor of the right rank.
    """

    code, name = "TCL215", "growing-cache"
    effect, severity = Effect.RECOMPILE, Severity.LOW
    scope = "seen"
    calls = ("torch.cat", "torch.concat")

    def on_call(self, event: Call) -> Iterator[Finding]:
        function = event.enclosing
        node = event.node
        if function is None or not isinstance(node, ast.Call) or not node.args:
            return
        parts = node.args[0].elts if isinstance(node.args[0], (ast.List, ast.Tuple)) else []
        inner = {p.value.id for p in parts if isinstance(p, ast.Subscript) and isinstance(p.value, ast.Name)}
        names = {p.id for p in parts if isinstance(p, ast.Name)} | inner
        parameters = {a.arg for a in (*function.node.args.args, *function.node.args.kwonlyargs)}
        if not event.at_entry or event.evidence is None:
            return
        for name in sorted(names & parameters):
            values = event.evidence.values.get(name, ())
            starts = any(getattr(v, "value", 0) is None for v in values)
            if not (starts and len(values) > 2):
                continue
            fed = _rebinds(function.node, name, node) or event.evidence.fed_back(name)
            if not (event.evidence.together([name]).hazard if name in inner else fed):
                continue
            shapes = event.evidence.shapes(name)
            if len(shapes) == sum(isinstance(value, Tensor) for value in values) and len(set(shapes)) == 1:
                continue  # a state that stays as it is
            yield self.finding(
                event,
                f"`{name}` starts as None and grows by concatenation ({event.evidence.places}): a program for None, one for"
                " the first length, one more",
                confidence=Confidence.HIGH,
                help="use a static cache with index_copy_",
            )


def _rebinds(node: ast.AST, name: str, cat: ast.Call) -> bool:
    for statement in ast.walk(node):
        if isinstance(statement, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == name for t in statement.targets
        ):
            if any(inner is cat for inner in ast.walk(statement.value)):
                return True
    return False
