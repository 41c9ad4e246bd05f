"""TCL102: a tokenizer used in compiled code."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Attribute, Call, Event
from tclint.fixes.places import Place
from tclint.fixes.recipes import read_once_in_init
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.ruleset.rule import Rule, whole_frame
from tclint.sources.tree import same
from tclint.torch_facts import facts
from tclint.values import Object

# Dynamo reads what is only kept on the object.
_PLAIN = facts.named("is a plain value of a tokenizer")
_COMPUTED = facts.named("is computed by a tokenizer")


class TokenizerInForward(Rule):
    """A tokenizer read on every step, inside the compiled region.

    A fast tokenizer is an object of compiled Rust code: what it computes ends the graph, at every step, also
    when it sits in a helper two calls below `forward`. (A tokenizer written in plain Python may trace; nothing is gained
    by relying on it.)

    Bad::

        class VLM(nn.Module):
            def __init__(self, tokenizer):
                super().__init__()
                self.tokenizer = tokenizer

            def forward(self, input_ids):
                return input_ids == self.tokenizer.image_token_id

    Good::

        class VLM(nn.Module):
            def __init__(self, tokenizer):
                super().__init__()
                self._image_token_id = tokenizer.image_token_id

            def forward(self, input_ids):
                return input_ids == self._image_token_id

    Fix: read the id once in `__init__` and compare with the integer. `--unsafe-fixes` adds the line to `__init__`, where
    the tokenizer is set there once and nowhere else. Wrong where the vocabulary changes afterwards
    (`tokenizer.add_tokens(...)`): the number would stay the old one.

    Ignore it where the tokenizer is your own traceable Python class.
    """

    code, name = "TCL102", "tokenizer-in-forward"
    effect, severity = Effect.GRAPH_BREAK, Severity.HIGH
    subjects = {"attribute": (Object,)}
    graph_breaks = ("GB0156", "GB0147")
    calls = ("tokenizer.*", "builtins.len")

    def on_attribute(self, event: Attribute) -> Iterator[Finding]:
        if isinstance(event.receiver, Object) and event.receiver.name == "tokenizer" and event.name not in _PLAIN:
            # Another attribute is of a class nobody has seen: a tokenizer of the project may well be plain Python.
            known = event.name.endswith(_COMPUTED)
            confidence = Confidence.HIGH if known else Confidence.LOW
            yield self._finding(event, f"`.{event.name}` of a tokenizer is read", confidence)

    def on_call(self, event: Call) -> Iterator[Finding]:
        if event.name == "builtins.len":
            first = event.args[0] if event.args else None
            if isinstance(first, Object) and first.name == "tokenizer":
                yield self._finding(event, "`len()` of a tokenizer is asked")
            return
        what = (
            "a tokenizer is called" if event.method == "__call__" else f"`.{event.method}()` of a tokenizer is called"
        )
        yield self._finding(event, what)

    def _finding(self, event: Attribute | Call, what: str, confidence: Confidence = Confidence.HIGH) -> Finding:
        return self.finding(
            event,
            f"{what} on every step; Dynamo cannot trace a tokenizer{whole_frame(event)}",
            confidence=confidence,
            help="read what you need once in __init__ and keep the plain value",
        )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        place = Place(event)
        node = place.node
        if isinstance(place.parent, ast.Call) and same(place.parent.func, node):
            node = place.parent
        if not isinstance(node, (ast.Attribute, ast.Call)):
            return None
        note = "wrong where the vocabulary changes after the module is built"
        # Nothing in the source shows that no token is ever added: that is for the user to know.
        return read_once_in_init(event, node, Applicability.UNSAFE, note)
