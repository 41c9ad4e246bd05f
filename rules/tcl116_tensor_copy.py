"""TCL116: copying with the copy module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.events import Call, Event
from tclint.fixes.places import Place
from tclint.fixes.recipes import skip_unread_store
from tclint.model.finding import Applicability, Effect, Finding, Fix, Severity
from tclint.rules._spellings import fields_of
from tclint.ruleset.rule import Rule, whole_frame
from tclint.values import PROVEN, Dict, Instance, Object, Seq, Tensor, Value, tensor_of

_COPIES_ITSELF: Final = ("__deepcopy__", "__reduce_ex__", "__reduce__", "__getstate__")
"""Methods by which a class says itself what a deep copy of it is."""


class TensorCopy(Rule):
    """`copy.deepcopy` or `copy.copy` of a tensor or a module ends the graph; so does `copy.copy` of a list, dict or set.

    `copy.deepcopy` of a plain list, dict or config object traces on current torch; with a tensor in it, it does not.
    `copy.copy` of an object of your own or of a tuple traces too.

    Bad::

        def f(x):
            y = copy.deepcopy(x)
            return y + 1

    Good::

        def f(x):
            y = x.clone()
            return y + 1

    Fix: `x.clone()`; copy configuration once in `__init__`. `--fix` writes `x.clone()` for a tensor of integers or booleans,
    `--unsafe-fixes` for any: a deep copy of a leaf is a leaf, a clone stays connected to it, so gradients flow.
    """

    code, name = "TCL116", "tensor-copy"
    effect, severity = Effect.GRAPH_BREAK, Severity.MEDIUM
    graph_breaks = ("GB4198", "GB0007")
    calls = ("copy.deepcopy", "copy.copy", "dataclasses.asdict", "dataclasses.astuple")
    owns = ("copy.copy",)

    def on_call(self, event: Call) -> Iterator[Finding]:
        value = event.args[0] if event.args else None
        if value is None:
            return
        tensor = tensor_of(value) if event.name == "copy.copy" else _tensor_in(event, value)
        if tensor is None and not _is_module(event, value) and not (event.name == "copy.copy" and self._breaks(event)):
            return
        yield self.finding(
            event,
            f"`{event.name}` in compiled code; Dynamo breaks the graph here{whole_frame(event)}",
            about=tensor,
            graph_breaks=self.ids("GB0007" if event.name == "copy.copy" else ""),
            help="use .clone() for a tensor; copy other things outside the region",
        )

    def _breaks(self, event: Call) -> bool:
        if _is_container(event.args[0]):
            return True  # whatever is in it, on every release
        verdict = self.verdict(event)
        return verdict is not None and verdict.breaks == "always"

    def fix(self, finding: Finding, event: Event) -> Fix | None:
        node = event.node
        assert isinstance(event, Call)
        if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
            return None
        value = event.args[0]
        if event.name == "dataclasses.asdict":
            return fields_of(event) if isinstance(value, Instance) else None
        if event.name == "copy.copy" and _is_container(value):
            place = Place(event)
            edit = place.replace(node, f"{place.atom(node.args[0])}.copy()")
            return Fix("call its own copy()", Applicability.SAFE, (edit,), "")
        if event.name == "copy.deepcopy" and (text := _each_cloned(event, value, node.args[0])):
            note = "the copies stay connected to the tensors for autograd; wrong where other things may be among them, or one twice"
            return Fix("clone each tensor", Applicability.UNSAFE, (Place(event).replace(node, text),), note)
        if not isinstance(value, Tensor) or event.name not in ("copy.deepcopy", "copy.copy"):
            return skip_unread_store(event, node)
        place = Place(event)
        if event.name == "copy.copy":
            # The copy shares its storage with the original, and autograd knows nothing of it.
            how, text, note = Applicability.UNSAFE, ".clone()", "copy.copy shares the storage, clone() does not"
        else:
            # Integers and booleans have no gradient: nobody can tell the two copies apart.
            safe = value.conf == PROVEN and value.dtype in ("i", "b")
            how, text = (Applicability.SAFE if safe else Applicability.UNSAFE), ".clone()"
            note = "deepcopy of a leaf gives a leaf; clone() stays connected to it for autograd"
        return Fix("clone the tensor", how, (place.replace(node, f"{place.atom(node.args[0])}{text}"),), note)


def _each_cloned(event: Event, value: Value, node: ast.expr) -> str:
    """A list or a dict of tensors, copied one by one; empty where it is something else, or may hold something else."""
    place = Place(event, node)
    if not isinstance(value, (Seq, Dict)) or not isinstance(value.element(), Tensor):
        return ""
    if isinstance(value, Dict) and value.kind == "dict":
        return f"{{key: value.clone() for key, value in {place.atom(node)}.items()}}"
    return f"[value.clone() for value in {place.source(node)}]" if value.kind == "list" else ""


def _tensor_in(event: Call, value: Value) -> Tensor | None:
    """A tensor that a deep copy meets: the value, an element of it, or what an object holds that does not copy itself."""
    tensor = tensor_of(value)
    if tensor is not None:
        return tensor
    if isinstance(value, (Seq, Dict)):
        return tensor_of(value.element())
    if not isinstance(value, Instance):
        return None
    if event.name == "copy.deepcopy" and any(event.ask.method(value.cls, name) for name in _COPIES_ITSELF):
        return None
    tensor = next((t for v in (value.fields or {}).values() if (t := tensor_of(v)) is not None), None)
    if tensor is not None or event.name != "copy.deepcopy":
        return tensor
    # What one object of a class holds is known of all of them together: what is a tensor in some says nothing of this one.
    return next((v for v in event.ask.attributes(value).values() if isinstance(v, Tensor)), None)


def _is_module(event: Event, value: Value) -> bool:
    if isinstance(value, Instance):
        return event.ask.is_nn_module(value.cls)
    return isinstance(value, Object) and value.name.startswith("torch.nn.")


def _is_container(value: Value) -> bool:
    return isinstance(value, Dict) or (isinstance(value, Seq) and value.kind in ("list", "set"))
