"""Names and attributes."""

from __future__ import annotations

import ast
import re
from typing import Final

from tclint.interpreter import bindings, exceptions, sighted
from tclint.interpreter.evaluate import evaluate, handles, holder, lookup
from tclint.interpreter.frame import Frame
from tclint.interpreter.overwrites import read
from tclint.program import Function
from tclint.torch_facts import facts, features
from tclint.values import (
    GRAPHED,
    NONE,
    UNKNOWN,
    External,
    Instance,
    Object,
    Scalar,
    Tensor,
    Value,
    tensor_of,
)

_WITHOUT_VALUES: Final = frozenset(facts.named("is known without the values"))


def _name(frame: Frame, node: ast.Name) -> Value:
    # The most frequent of all expressions: a name that the function has bound.
    region, value = frame.region, frame.env.get(node.id)
    if region is not None:
        if value is None or value.maker or region.evidence is not None:
            value = _value(frame, node)
        return value
    if value is None or frame.interp.graph_memory.runs:
        value = _value(frame, node)
    if frame.capturing:
        recordings = frame.interp.recordings
        recordings.read(frame, bindings.of_name(frame, node.id), node, value)
        for place in bindings.passed_as(frame, node.id) if tensor_of(value) or value.python_type else ():
            recordings.read(frame, place, node, value)
    return value


def _value(frame: Frame, node: ast.Name) -> Value:
    value = frame.env.get(node.id)
    if value is not None:
        if frame.region is None:
            return read(frame, node, node.id, value)
        if frame.region.evidence is not None and sighted.unbound(frame, node):
            exceptions.fails(frame, node, "name that is not bound")
        if value.maker:
            frame.interp.emitter.use(frame, node, value)
        return value
    value = lookup(frame, node.id)
    if frame.region is None and type(value) is Scalar:
        value = frame.interp.names.at_import(frame.module, node.id, value)
    if frame.region is not None:
        _tell_held(frame, node, value)
    if value is UNKNOWN and frame.region is not None:
        if _is_own(frame, node.id) or "try" in frame.blocks and _is_nobodys(frame, node.id):
            exceptions.fails(frame, node, "name that is not bound")
        elif _is_bound_later(frame, node.id) and frame.parent is not None and frame.call_node is not None:
            exceptions.fails(frame.parent, frame.call_node, "name that is not bound")
    if frame.region is None and frame.interp.graph_memory.runs:
        if frame.closure is not None and node.id in frame.closure:
            return read(frame, node, node.id, value)
        held = frame.top_level.get(node.id)
        if held is not None and held.contains(GRAPHED) is not None and value is not NONE:
            return read(frame, node, node.id, held)
    return value


def _is_own(frame: Frame, name: str) -> bool:
    """Whether a function binds a name itself, here or further down."""
    elsewhere = (
        name in frame.globals or name in frame.nonlocals or (frame.closure is not None and name in frame.closure)
    )
    return frame.function is not None and not elsewhere and name in frame.function.stored_names()


def _is_nobodys(frame: Frame, name: str) -> bool:
    """Whether nothing else in a file has a name, and no import may bring it."""
    module = frame.module
    return len(re.findall(rb"\b%s\b" % name.encode(), module.data)) == 1 and b"import *" not in module.data


def _is_bound_later(frame: Frame, name: str) -> bool:
    """Whether the function around this one binds a name, and has not yet: told where that function itself calls, as of what a
    wrapper closes over not all is known."""
    outer = frame.function.parent if frame.function is not None else None
    if frame.parent is None or frame.parent.function is not outer:
        return False
    around = frame.closure is not None and name not in frame.closure and name not in frame.globals
    return isinstance(outer, Function) and around and name in outer.stored_names()


def _attribute(frame: Frame, node: ast.Attribute) -> Value:
    value = _attribute_value(frame, node)
    if frame.capturing and frame.region is None:
        frame.interp.recordings.read(frame, bindings.of_target(frame, node), node, value)
    return value


def _attribute_value(frame: Frame, node: ast.Attribute) -> Value:
    base = node.value
    if node.attr in _WITHOUT_VALUES and type(base) is ast.Name and frame.region is None:
        return holder(frame, base).attribute(frame, node, node.attr)
    if type(base) is ast.Name and base.id in frame.paths:
        value = frame.env.get(f"{base.id}.{node.attr}")
        if value is not None:
            return read(frame, node, f"{base.id}.{node.attr}", value) if frame.region is None else value
    receiver = evaluate(frame, base)
    if frame.region is None and type(receiver) is Instance:
        held = frame.interp.graph_memory.held(receiver, node.attr)
        if held is not None:
            return read(frame, node, f"{ast.unparse(base)}.{node.attr}", held)
    value = receiver.attribute(frame, node, node.attr)
    if frame.region is None:
        return frame.interp.graph_memory.as_held(value)
    if value is UNKNOWN and "try" in frame.blocks and exceptions.lacks(frame, node, receiver):
        exceptions.fails(
            frame, node, f"attribute that {'a tensor' if type(receiver) is Tensor else 'an object'} has not"
        )
    _tell_held(frame, node, value)
    if type(receiver) is External and receiver.name in features.owners():
        frame.interp.emitter.feature(frame, node, f"attribute of {receiver.name}")
    return value


def _tell_held(frame: Frame, node: ast.expr, value: Value) -> None:
    """Compiled code reads what was there before it: some objects Dynamo cannot take in at all."""
    if type(value) is Object:
        frame.interp.emitter.feature(frame, node, f"{value.name} that is held")
    if value.maker:
        frame.interp.emitter.use(frame, node, value)


def _named(frame: Frame, node: ast.NamedExpr) -> Value:
    value = evaluate(frame, node.value)
    frame.set(node.target.id, value)
    return value


handles(ast.Name, _name)
handles(ast.Attribute, _attribute)
handles(ast.NamedExpr, _named)
