"""TCL406: `_orig_mod.` in checkpoints."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.events import Call, Event, ModuleEvent
from tclint.fixes.places import Place
from tclint.model.finding import Applicability, Confidence, Effect, Finding, Fix, Severity
from tclint.rules._scope import calls, scope
from tclint.ruleset.rule import Rule
from tclint.sources.tree import ancestors, text
from tclint.torch_facts import facts
from tclint.values import Compiled, Instance, Object

_SAVERS = facts.named("writes a checkpoint")


class OrigModCheckpoint(Rule):
    """The state_dict of a compiled wrapper has other keys than the model's: `_orig_mod.` stands before each.

    `torch.compile(model)` returns a wrapper that holds the model as `_orig_mod`. A checkpoint saved from it loads
    only into another wrapper; anything else reports missing and unexpected keys, or with `strict=False` silently
    loads nothing.

    Bad::

        class Net(torch.nn.Module):
            def forward(self, x):
                return x * 2

        model = torch.compile(Net())
        torch.save(model.state_dict(), "model.pt")

    Good::

        class Net(torch.nn.Module):
            def forward(self, x):
                return x * 2

        model = Net()
        model.compile()
        torch.save(model.state_dict(), "model.pt")

    Fix: `model.compile()`, which changes no keys; or save from the uncompiled model. Cutting `_orig_mod.` out of
    the keys afterwards works with `removeprefix` or `replace`; `lstrip("_orig_mod.")` also eats the first letters
    of the names. `--unsafe-fixes` saves from `_orig_mod`.

    Ignore it where the same wrapper always loads what it saved.
    """

    code, name = "TCL406", "orig-mod-checkpoint"
    effect, severity = Effect.SILENT, Severity.MEDIUM
    scope = "eager"
    calls = ("compiled.state_dict", "compiled.load_state_dict")
    triggers = (b"_orig_mod",)

    def on_call(self, event: Call) -> Iterator[Finding]:
        receiver = event.receiver
        if not isinstance(receiver, Compiled) or receiver.site.in_place:
            return
        if not isinstance(receiver.target, (Instance, Object)):
            return
        if b"_orig_mod" in event.module.data:
            return  # the project deals with the prefix
        if event.method == "load_state_dict":
            yield from self._loaded(event)
        elif _is_saved(event):
            yield self.finding(
                event,
                "a compiled model's state_dict is saved: every key begins with `_orig_mod.`",
                confidence=Confidence.HIGH,
                help="compile with `model.compile()`, or save the uncompiled model's state_dict",
            )
        else:
            yield from self._copied(event)

    def _loaded(self, event: Call) -> Iterator[Finding]:
        """`compiled.load_state_dict(plain.state_dict())`."""
        node = event.node
        given = node.args[0] if isinstance(node, ast.Call) and node.args else None
        source = given.func if isinstance(given, ast.Call) else None
        if isinstance(source, ast.Attribute) and source.attr == "state_dict" and _is_plain(event, source.value):
            yield self._mismatch(event, "a compiled model expects keys with `_orig_mod.`; these come from a plain one")

    def _copied(self, event: Call) -> Iterator[Finding]:
        """`plain.load_state_dict(compiled.state_dict())`."""
        chain = ancestors(scope(event), event.node)
        parent = chain[-1] if chain else None
        if not (isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute)):
            return
        if parent.func.attr == "load_state_dict" and _is_plain(event, parent.func.value):
            yield self._mismatch(event, "these keys begin with `_orig_mod.`; the model that loads them is a plain one")

    def _mismatch(self, event: Call, message: str) -> Finding:
        return self.finding(
            event,
            f"{message}: load_state_dict raises",
            effect=Effect.ERROR,
            severity=Severity.HIGH,
            confidence=Confidence.HIGH,
            help="go through the uncompiled model, or compile with `model.compile()`",
        )

    def on_module(self, event: ModuleEvent) -> Iterator[Finding]:
        for node in ast.walk(event.node):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            given = node.args[0]
            if not (isinstance(given, ast.Constant) and isinstance(given.value, str) and "_orig_mod" in given.value):
                continue
            if node.func.attr in ("lstrip", "strip"):
                yield self.finding(
                    event,
                    f"`{node.func.attr}({given.value!r})` strips letters: `model.weight` becomes `el.weight`",
                    node=node,
                    severity=Severity.HIGH,
                    confidence=Confidence.HIGH,
                    help='use `removeprefix("_orig_mod.")`, or compile with `model.compile()`',
                )
            elif node.func.attr in ("replace", "removeprefix"):
                yield self.finding(
                    event,
                    "keys are repaired after `torch.compile(model)`; `model.compile()` would not change them",
                    node=node,
                    severity=Severity.LOW,
                    confidence=Confidence.LOW,
                    help="compile with `model.compile()`",
                )

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        """`compiled._orig_mod.state_dict()`: the model that was compiled, with its own keys."""
        node = event.node
        func = node.func if isinstance(event, Call) and isinstance(node, ast.Call) else None
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, (ast.Name, ast.Attribute)):
            return None
        place = Place(event)
        note = "wrong where checkpoints with the prefix are read elsewhere, or where the model may not be compiled"
        edit = place.insert_after(func.value, "._orig_mod")
        return Fix("go through the uncompiled model", Applicability.UNSAFE, (edit,), note)


def _is_plain(event: Call, node: ast.expr) -> bool:
    value = event.ask.local(node.id) if isinstance(node, ast.Name) else None
    return isinstance(value, Instance) or (isinstance(value, Object) and value.name.startswith("torch.nn."))


def _is_saved(event: Call) -> bool:
    root = scope(event)
    names: set[str] = set()
    for node in ancestors(root, event.node):
        if isinstance(node, ast.Call) and text(node.func).rpartition(".")[2] in _SAVERS:
            return True
        if isinstance(node, (ast.DictComp, ast.ListComp, ast.GeneratorExp)):
            return False  # the keys pass through something
        if isinstance(node, ast.Assign):
            names = {text(t.value if isinstance(t, ast.Subscript) else t) for t in node.targets}
    if not names:
        return False
    return not names.isdisjoint(event.ask.of_scope(_saved))


def _saved(root: ast.AST) -> frozenset[str]:
    """What is handed to a function that saves, as it is written."""
    saving = (call for call in calls(root) if text(call.func).rpartition(".")[2] in _SAVERS)
    return frozenset(text(argument) for call in saving for argument in call.args)
