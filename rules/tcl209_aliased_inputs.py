"""TCL209: the same tensor as several arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import CompiledCall, Enter, variation
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.rules._scope import header
from tclint.ruleset.rule import Rule
from tclint.values import Tensor


class AliasedInputs(Rule):
    """The same tensor is passed as several arguments in some calls, and different ones in others.

    Dynamo guards on which inputs are the same tensor. `attend(x, x, x)`, `attend(h, memory, memory)`, `attend(h, h, v)` are
    three programs.

    Bad::

        @torch.compile
        def attend(q, k, v):
            return torch.softmax(q @ k.transpose(-1, -2), -1) @ v

        def caller(x, memory):
            h = attend(x, x, x)
            h = attend(h, memory, memory)
            return attend(h, h, memory)

    Good::

        @torch.compile
        def attend(q, kv):
            return torch.softmax(q @ kv.transpose(-1, -2), -1) @ kv

        def caller(x, memory):
            h = attend(x, memory)
            return attend(h, memory)

    Fix: one parameter for what is always the same tensor, or distinct tensors in every call.
    """

    code, name = "TCL209", "aliased-inputs"
    effect, severity = Effect.RECOMPILE, Severity.LOW
    scope = "any"

    def __init__(self) -> None:
        super().__init__()
        self._patterns: dict[object, dict[tuple[int, ...], list[tuple[CompiledCall, ast.Call, str]]]] = {}

    def on_compiled_call(self, event: CompiledCall) -> Iterator[Finding]:
        node = event.node
        if not isinstance(node, ast.Call) or node.keywords or not all(isinstance(a, ast.Name) for a in node.args):
            return
        names = [a.id for a in node.args if isinstance(a, ast.Name)]
        pattern = tuple(names.index(n) for n in names)
        evidence = event.evidence
        patterns = self._patterns.setdefault(event.callee.key, {})
        repeated = next((n for n in names if names.count(n) > 1), "")
        patterns.setdefault(pattern, []).append((event, node, repeated))
        if len(patterns) <= variation.SETTLES:
            return
        for places in patterns.values():
            for seen, place, name in places:
                if name:
                    yield self.finding(
                        seen,
                        f"`{name}` is passed as several arguments here and differently elsewhere"
                        f"{variation.told(evidence.places if evidence is not None else '')};"
                        " each pattern of aliasing compiles again",
                        node=place,
                        confidence=Confidence.HIGH,
                        help="one parameter for what is always the same tensor",
                    )

    def on_enter(self, event: Enter) -> Iterator[Finding]:
        evidence = event.evidence
        if evidence is None or not event.at_entry:
            return
        columns = [v for v in evidence.values.values() if len(v) == len(evidence.rows)]
        patterns = set()
        for row in zip(*columns, strict=True):
            same = [
                (i, j) for j, b in enumerate(row) for i, a in enumerate(row[:j]) if a is b and isinstance(a, Tensor)
            ]
            patterns.add(tuple(same))
        if len(columns) > 1 and len(patterns) > variation.SETTLES:
            yield self.finding(
                event,
                f"the arguments are the same tensor in some calls and not in others ({evidence.places} in"
                f" {len(patterns)} patterns); each compiles again",
                node=header(event.node),
                confidence=Confidence.HIGH,
                help="one parameter for what is always the same tensor",
            )
