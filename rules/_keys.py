"""Which feature of the language shows where compiled code reads or writes an item by a key, or makes one of an object."""

from __future__ import annotations

import ast

from tclint.events import Event, Operation, Store, Subscript
from tclint.rules._language import has
from tclint.torch_facts import features
from tclint.values import Dict, External, Instance, Object, Scalar, Seq, Tensor


def of_key(event: Store | Subscript) -> str | None:
    """An object of the program as the key of a dict, or as an index."""
    if isinstance(event.receiver, Tensor):
        return None
    if isinstance(event.receiver, External):
        return f"item of {event.receiver.name}"
    if isinstance(event.receiver, Object):
        written = f"write of an item of a {event.receiver.name}"
        known = isinstance(event, Store) and written in features.table().features
        return written if known else f"item of a {event.receiver.name}"
    if isinstance(event.receiver, Instance):
        return _of_item(event)
    if isinstance(event.index, Scalar) and isinstance(event.receiver, Dict):
        read = event.index.origin.node if event.index.source == "data" else None
        listed = isinstance(read, ast.Call) and isinstance(read.func, ast.Attribute) and read.func.attr == "tolist"
        return "number of a tensor as a key" if listed else None
    if isinstance(event.index, Seq) and event.index.kind == "frozenset" and isinstance(event.receiver, Dict):
        return "frozenset as a key"
    if not isinstance(event.index, Instance):
        return None
    if isinstance(event.receiver, Seq):
        return "__index__" if has(event, event.index, "__index__") else None
    if not isinstance(event.receiver, Dict):
        return None
    return as_key(event, event.index)


def _of_item(event: Store | Subscript) -> str | None:
    """An item of an object whose class leaves that to the one below it."""
    node, written = event.node, isinstance(event, Store)
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
    holder = targets[0].value if isinstance(targets[0], ast.Subscript) else None
    who = event.ask.below(event.receiver, holder, "__setitem__" if written else "__getitem__")
    return f"{'write of an item of' if written else 'item of'} {who}" if who else None


def as_key(event: Event, value: Instance) -> str | None:
    if event.ask.is_nn_module(value.cls):
        return None  # known by its name
    if value.fields is not None:
        return "dataclass as a key"
    # One object looked up as itself is found by identity: its methods are asked where another one is made for it.
    # Without an `__eq__` of its own it is compared by identity, and the key of a display with nothing as a rule.
    shown = isinstance(event, Operation) and event.operator == "key"
    own = not shown and all(has(event, value, name) for name in ("__hash__", "__eq__")) and _made_here(event.node)
    return "object with __hash__ as a key" if own else "object as a key"


def _made_here(node: ast.AST) -> bool:
    keys = node.keys if isinstance(node, ast.Dict) else [node.slice if isinstance(node, ast.Subscript) else node]
    return any(isinstance(key, ast.Call) for key in keys)
