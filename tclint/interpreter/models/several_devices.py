"""Modules that wrap one for several devices: `DistributedDataParallel(module)`. What is called, and compiled, is the module in it."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models import objects
from tclint.interpreter.models.functions import Args, Keywords
from tclint.torch_facts import facts
from tclint.values import UNKNOWN, Instance, Method, Object, Value

NAMES: Final = frozenset(facts.named("wraps a module for several devices"))
KIND: Final = "module on several devices"
_METHODS: Final = frozenset(
    (*facts.named("gives its module back"), *facts.named("is a method of every module"), "forward")
)


def made(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords) -> Value:
    """The wrapper, around a module of which something is known."""
    given = args[0] if args else keywords.get("module", UNKNOWN)
    inner = given if isinstance(given, (Instance, Object)) else None
    return Object(name, frame.origin(node), "module" if inner is None else KIND, inner)


def _call(frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    assert func.args is not None
    result = func.args.call(frame, node, args, keywords, open_ended)
    frame.interp.emitter.call(frame, node, func.name + ".__call__", args, keywords, func, result)
    return result


def _attribute(frame: Frame, node: ast.AST, receiver: Object, name: str) -> Value:
    if name == "module" and receiver.args is not None:
        return receiver.args
    return Method(receiver, name) if name in _METHODS else UNKNOWN


objects.register(KIND, attribute=_attribute, call=_call)
