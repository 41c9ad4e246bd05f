"""TCL503: a dict looked up by the text of a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, Operation, Subscript
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.ruleset.rule import Rule
from tclint.sources.tree import own, text
from tclint.values import NAMED, PROVEN, Dict, Scalar, Seq, Value, tensor_of


class TensorStringKey(Rule):
    """A dict looked up by an f-string of a tensor: compiled code does not find the key, and says nothing.

    While tracing, the tensor has no value, and the f-string stands for an unfinished text that equals no key.
    `d.get(...)` returns its default, `in` is false, `pop` and `setdefault` take the other way: the result is
    silently wrong. The same happens to an int taken out of a tensor, and to an int argument once it has become
    dynamic. `d[f"{t}"]` raises inside Dynamo, which then runs the function eagerly without a word; in a `try` the
    wrong branch is compiled.

    Bad::

        TABLE = {"0": 1.0, "1": 2.0}

        def f(x, index: torch.Tensor):
            return x * TABLE.get(f"{index}", 9.0)

    Good::

        TABLE = [1.0, 2.0]

        def f(x, index: torch.Tensor):
            return x * torch.tensor(TABLE, device=x.device)[index]

    Fix: keep the table in a tensor and index it; or look the entry up in the eager caller.

    `str(tensor)` breaks the graph instead and is right.
    """

    code, name = "TCL503", "tensor-string-key"
    effect, severity = Effect.SILENT, Severity.HIGH
    subjects = {"subscript": (Dict,)}
    calls = ("dict.get", "dict.pop", "dict.setdefault")

    def on_call(self, event: Call) -> Iterator[Finding]:
        if event.args:
            yield from self._check(event, event.args[0], f"`.{event.method}` takes its default")

    def on_operation(self, event: Operation) -> Iterator[Finding]:
        container = event.right
        hashed = isinstance(container, Dict) or (isinstance(container, Seq) and container.kind in ("set", "frozenset"))
        if event.operator in ("In", "NotIn") and hashed:
            yield from self._check(event, event.left, "the key is never found")

    def on_subscript(self, event: Subscript) -> Iterator[Finding]:
        if not isinstance(event.receiver, Dict):
            return
        if "try" in event.blocks:
            yield from self._check(event, event.index, "the KeyError branch is compiled")
        elif _formatted(event, event.index) and not _asked_before(event):
            yield from self._check(event, event.index, "the function runs eagerly", Effect.SLOW)

    def _check(
        self, event: Call | Operation | Subscript, key: Value, what: str, effect: Effect = Effect.SILENT
    ) -> Iterator[Finding]:
        strength = _formatted(event, key)
        if strength == 0:
            return
        yield self.finding(
            event,
            f"a dict looked up by the text of a tensor, which Dynamo does not know: {what}",
            effect=effect,
            severity=Severity.MEDIUM if effect is Effect.SLOW else Severity.HIGH,
            confidence=Confidence.HIGH if strength > NAMED else Confidence.LOW,
            help="index a tensor instead, or look it up outside the region",
        )


def _asked_before(event: Subscript) -> bool:
    """Whether the function tests `key in d` first: then that test is what goes wrong."""
    table = text(event.node.value) if isinstance(event.node, ast.Subscript) else ""
    return table in event.ask.of_scope(_asked)


def _asked(root: ast.AST) -> frozenset[str]:
    """What is asked for a key, `key in d`."""
    asks = (n for n in own(root) if isinstance(n, ast.Compare) and isinstance(n.ops[0], (ast.In, ast.NotIn)))
    return frozenset(text(n.comparators[0]) for n in asks)


def _formatted(event: Call | Operation | Subscript, key: Value) -> int:
    """How sure it is that the key is a tensor's value, made text by an f-string or `format`; 0 for not at all."""
    if not isinstance(key, Scalar) or key.type != "str" or key.source not in ("tensor", "data", "arg"):
        return 0
    node = key.origin.node
    if isinstance(node, ast.JoinedStr):
        parts = [p.value for p in node.values if isinstance(p, ast.FormattedValue)]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        parts = list(node.args)
    else:
        return 0
    best = 0
    for part in parts:
        value = event.ask.local(part.id) if isinstance(part, ast.Name) else None
        tensor = tensor_of(value) if value is not None else None
        if tensor is not None:
            best = max(best, tensor.conf)
        elif value is None:
            best = max(best, PROVEN if key.source != "arg" else 0)
        elif isinstance(value, Scalar) and value.type in ("int", "number") and value.source in ("data", "arg"):
            best = max(best, PROVEN)
    return best
