"""TCL206: lists and dicts whose length or keys change from call to call."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Sequence
from typing import Final

from tclint.events import Call, Enter, Event, Loop, variation
from tclint.model.finding import Confidence, Effect, Finding, Severity
from tclint.program import Function
from tclint.ruleset.rule import Rule
from tclint.torch_facts import facts
from tclint.values import Const, Dict, Seq, Value

_WALKS_KEYS: Final = ("builtins.sorted", "builtins.list")
"""Builtins that go through the keys of a dict."""


class ContainerInput(Rule):
    """A Python list, `*args`, `**kwargs` or dict as input of the compiled callable: one compilation for every length.

    Dynamo guards on the length of a list and on the keys of a dict and their order. `dynamic=True` does not help: it is
    about tensor shapes.

    Bad::

        @torch.compile
        def encode(images: list[torch.Tensor]):
            return torch.stack([image.mean() for image in images])

        def train(a, b, c):
            return encode([a]), encode([a, b]), encode([a, b, c])

    Good::

        @torch.compile
        def encode(images: torch.Tensor):
            return images.mean((1, 2, 3))

        def train(images):
            return encode(images)

    A dict or list that the compiled code itself writes to counts the same: a new key or element in every call compiles
    every call. A key that is written first and then again costs one more program, and is not flagged.

    Fix: stack or pad to one tensor in the caller and compile a tensor-only core.

    `if "image" in batch` and `if i in skip` make one for every content.

    The confidence is high where the calls in sight vary, low where only the signature is known.
    """

    code, name = "TCL206", "container-input"
    effect, severity = Effect.RECOMPILE, Severity.MEDIUM
    calls = (
        *facts.named("joins the tensors of a list"),
        *facts.named("walks a dict"),
        "builtins.len",
        *_WALKS_KEYS,
    )

    def on_enter(self, event: Enter) -> Iterator[Finding]:
        """`if "image" in batch`, `if i in skip`: what a container holds decides what is traced."""
        evidence, function = event.evidence, event.enclosing
        if evidence is None or function is None or event.site is None or not event.at_entry:
            return
        for name, values in evidence.values.items():
            # Of a dict one key may be all that is read, and then it alone is guarded.
            if all(isinstance(v, Seq) for v in values) and evidence.resized(name):
                read = event.ask.of_function(_first_reads).get(name)
                if read is not None:
                    yield self._told(event, name, read, Confidence.HIGH)
        for node in ast.walk(function.node):
            if not (isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn))):
                continue
            place = node.comparators[0]
            if isinstance(place, ast.Name) and len(_contents(evidence.values.get(place.id, ()))) > variation.SETTLES:
                yield self.finding(
                    event,
                    f"what `{place.id}` holds changes from call to call ({evidence.shown(place.id)}), and"
                    f" `{ast.unparse(node)}` asks for it; each combination compiles again",
                    node=node,
                    confidence=Confidence.HIGH,
                    help="choose in the caller between compiled functions, or pass a tensor of weights",
                )
                return

    def on_loop(self, event: Loop) -> Iterator[Finding]:
        node = event.node.iter if isinstance(event.node, ast.For) else event.node
        if not isinstance(node, ast.expr):
            return
        yield from self._check(event, node, event.iterable)

    def on_call(self, event: Call) -> Iterator[Finding]:
        node = event.node
        if not isinstance(node, ast.Call):
            return
        if event.name.startswith("dict."):
            if isinstance(node.func, ast.Attribute) and event.receiver is not None:
                yield from self._check(event, node.func.value, event.receiver)
        elif node.args and event.args and (isinstance(event.args[0], Dict) or event.name not in _WALKS_KEYS):
            yield from self._check(event, node.args[0], event.args[0])

    def _check(self, event: Event, node: ast.expr, value: Value) -> Iterator[Finding]:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        if isinstance(node, ast.Call) and node.args:
            node = node.args[0]
        if isinstance(node, (ast.BinOp, ast.List, ast.Tuple)):
            # `history + [h]`, `[*history, h]`: as long as what it is made of.
            parts = (node.left, node.right) if isinstance(node, ast.BinOp) else node.elts
            inner = [part.value if isinstance(part, ast.Starred) else part for part in parts]
            named = [part for part in inner if isinstance(part, ast.Name)]
            known = [part for part in named if isinstance(event.ask.local(part.id), (Seq, Dict))]
            if not known:
                return
            node, value = known[0], event.ask.local(known[0].id) or value
        if not isinstance(node, ast.Name) or not event.at_entry:
            return
        if not isinstance(value, (Seq, Dict)) or (isinstance(value, Seq) and value.kind in ("size", "range")):
            return
        evidence = event.evidence
        function = event.enclosing
        if function is None or node.id not in _parameters(function.node):
            return
        if evidence is None or node.id not in evidence.values:
            if isinstance(event, Call) and event.name in _WALKS_KEYS:
                return
            confidence = Confidence.LOW
        elif evidence.lengths(node.id) > variation.SETTLES:
            confidence = Confidence.HIGH
        else:
            return
        if confidence is not Confidence.HIGH or not isinstance(value, Seq):
            yield self._told(event, node.id, node, confidence)

    def _told(self, event: Event, name: str, node: ast.expr, confidence: Confidence) -> Finding:
        evidence = event.evidence
        return self.finding(
            event,
            f"`{name}` is a Python container whose length or keys change from call to call"
            f"{variation.told(evidence.shown(name) if evidence is not None else '')}; each compiles again",
            node=node,
            confidence=confidence,
            help="stack or pad to a tensor in the caller and compile a tensor-only core",
        )


def _contents(values: Sequence[Value]) -> set[Hashable]:
    """The different contents of containers whose contents are known."""
    found: set[Hashable] = set()
    for value in values:
        if isinstance(value, Dict):
            found.add(frozenset(value.items))
        elif isinstance(value, Seq) and value.items is not None and all(isinstance(i, Const) for i in value.items):
            found.add(frozenset(item.key for item in value.items))
    return found


def _parameters(node: ast.AST) -> set[str]:
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    arguments = node.args
    names = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    return names | {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}


def _first_reads(function: Function) -> dict[str, ast.expr]:
    """Where each parameter is read first."""
    found: dict[str, ast.expr] = {}
    reads = [n for n in ast.walk(function.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    for node in sorted(reads, key=lambda n: (n.lineno, n.col_offset)):
        found.setdefault(node.id, node)
    return found
