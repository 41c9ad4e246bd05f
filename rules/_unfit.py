"""Calls that Python or torch refuses, in a `try`: Dynamo does not see the exception that the program waits for."""

from __future__ import annotations

import ast
import builtins
import inspect
from typing import Final

from tclint.events import Call
from tclint.rules import _construction
from tclint.torch_facts import devices, features
from tclint.values import Const, Object, Value, tensor_of

_UNFIT: Final = "with arguments that it does not take"
_KEYWORDS: Final = {"itertools.product": frozenset({"repeat"})}
"""Of what is written in C and has no signature, the keywords."""


def of_call(event: Call) -> str | None:
    """What is wrong with the arguments, by its name in the facts."""
    node = event.node
    if not isinstance(node, ast.Call) or "try" not in event.blocks:
        return None
    given = (*event.args, *event.keywords.values())
    if event.name == "builtins.object.__new__":
        return _construction.of_new(event)
    if f"{event.name} of a device that torch does not know" in features.table().features:
        return f"{event.name} of a device that torch does not know" if any(map(_is_no_device, given)) else None
    if isinstance(event.receiver, Object) and any(tensor_of(each) is not None for each in given):
        return f"method of a {event.receiver.name} with a tensor"
    whole = not any(isinstance(each, ast.Starred) for each in node.args) and all(each.arg for each in node.keywords)
    return f"{event.name} {_UNFIT}" if whole and _is_unfit(event, node) else None


def _is_no_device(value: Value) -> bool:
    kind = value.value.partition(":")[0] if isinstance(value, Const) and isinstance(value.value, str) else ""
    return bool(kind) and kind not in devices.KNOWN


def _is_unfit(event: Call, node: ast.Call) -> bool:
    """Whether Python says itself that the call does not fit what is called."""
    names = {each.arg or "" for each in node.keywords}
    if event.name in _KEYWORDS:
        return not names <= _KEYWORDS[event.name]
    if event.name == "functools.partial":
        return not node.args
    called = getattr(builtins, event.method, None) if event.name == f"builtins.{event.method}" else None
    try:
        inspect.signature(called).bind(*node.args, **dict.fromkeys(names))  # type: ignore[arg-type]
    except ValueError:
        return False  # it has no signature
    except TypeError:
        return called is not None
    return False
