"""Assignment targets: names, attributes, subscripts, unpacking."""

from __future__ import annotations

import ast

from tclint import events
from tclint.interpreter import expressions
from tclint.interpreter.frame import Frame
from tclint.values import (
    SIZE,
    UNKNOWN,
    Compiled,
    Const,
    Dict,
    Instance,
    Object,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
    join,
)


def store(
    frame: Frame,
    target: ast.expr,
    value: Value,
    statement: ast.AST,
    *,
    augmented: bool = False,
    old: Value | None = None,
    quiet: bool = False,
) -> None:
    """Bind a value to a target; `quiet` where the binding itself is no event (loop variables)."""
    kind = type(target)
    if kind is ast.Name:
        _name(frame, target, value, statement, augmented, old)  # type: ignore[arg-type]
    elif kind is ast.Attribute:
        _attribute(frame, target, value, statement, augmented, old)  # type: ignore[arg-type]
    elif kind is ast.Subscript:
        _subscript(frame, target, value, statement, augmented, old)  # type: ignore[arg-type]
    elif kind is ast.Tuple or kind is ast.List:
        _unpack(frame, target, value, statement, quiet)  # type: ignore[arg-type]
    elif kind is ast.Starred:
        store(frame, target.value, Seq("list", None, UNKNOWN), statement, quiet=quiet)  # type: ignore[attr-defined]


def _name(frame: Frame, target: ast.Name, value: Value, statement: ast.AST, augmented: bool, old: Value | None) -> None:
    name = target.id
    scope = "global" if name in frame.globals else "nonlocal" if name in frame.nonlocals else "name"
    if scope != "name" or augmented or frame.region is None:
        frame.interp.emitter.emit(events.Store, frame, statement, scope, UNKNOWN, name, value, None, augmented, old)
    frame.set(name, value)


def _attribute(
    frame: Frame, target: ast.Attribute, value: Value, statement: ast.AST, augmented: bool, old: Value | None
) -> None:
    receiver = expressions.evaluate(frame, target.value)
    frame.interp.emitter.emit(
        events.Store, frame, statement, "attribute", receiver, target.attr, value, None, augmented, old
    )
    if isinstance(receiver, Instance) and not (augmented and isinstance(value, Tensor)):
        frame.interp.instance_attributes.store(frame, receiver, target.attr, value)
        if isinstance(value, Object) and isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            frame.interp.instance_attributes.store_layer(frame, receiver, target.attr, statement.value)
    elif isinstance(receiver, Object) and isinstance(target.value, ast.Attribute):
        owner = expressions.evaluate(frame, target.value.value)
        if isinstance(owner, Instance) and not frame.constructing:
            # `net.drop.p = p`: what the layer is configured with.
            frame.interp.instance_attributes.store_setting(frame, owner, target.value.attr, value)
    if isinstance(target.value, ast.Name):
        frame.set_path(f"{target.value.id}.{target.attr}", value)


def _subscript(
    frame: Frame, target: ast.Subscript, value: Value, statement: ast.AST, augmented: bool, old: Value | None
) -> None:
    receiver = expressions.evaluate(frame, target.value)
    index = expressions.evaluate_index(frame, target.slice)
    frame.interp.emitter.emit(events.Store, frame, statement, "subscript", receiver, "", value, index, augmented, old)
    place = expressions.path_of(target.value)
    if place is None:
        return
    updated = with_item(receiver, index, value)
    if updated is not receiver:
        if "." in place:
            frame.set_path(place, updated)
            owner = frame.env.get(place.partition(".")[0])
            if isinstance(owner, Instance) and isinstance(updated, Object):
                frame.interp.instance_attributes.store(frame, owner, place.partition(".")[2], updated)
        else:
            frame.set(place, updated)


def with_item(receiver: Value, index: Value, value: Value) -> Value:
    """The container after `receiver[index] = value`."""
    if isinstance(receiver, Dict):
        items = dict(receiver.items)
        if isinstance(index, Const) and _hashable(index.value):
            if len(items) < 64 or index.value in items:
                items[index.value] = value
                return Dict(items, receiver.elem, receiver.kind)
        if receiver.kind == "kwargs" or (items and receiver.elem is None):
            # Known keys hold different things; what an unknown key holds says nothing about the rest.
            return Dict(items, UNKNOWN, receiver.kind)
        elem = value if receiver.elem is None else join(receiver.elem, value)
        return Dict(items, elem, receiver.kind)
    if isinstance(receiver, Seq) and receiver.kind == "list":
        if receiver.items is not None and isinstance(index, Const) and isinstance(index.value, int):
            n = len(receiver.items)
            if -n <= index.value < n:
                changed = list(receiver.items)
                changed[index.value] = value
                return Seq("list", tuple(changed))
        if receiver.items:
            # An unknown place is filled with what belongs there.
            return receiver
        return Seq("list", None, join(receiver.element(), value), receiver.length)
    if isinstance(receiver, Object) and receiver.args is not None:
        if isinstance(receiver.args, Seq) and isinstance(value, Compiled):
            return Object(receiver.name, receiver.origin, receiver.kind, Seq("list", None, value))
        return Object(receiver.name, receiver.origin, receiver.kind, with_item(receiver.args, index, value))
    return receiver


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _unpack(frame: Frame, target: ast.Tuple | ast.List, value: Value, statement: ast.AST, quiet: bool) -> None:
    elements = target.elts
    for element, item in zip(elements, spread(frame, value, elements, statement), strict=True):
        inner = element.value if isinstance(element, ast.Starred) else element
        store(frame, inner, item, statement, quiet=quiet)


def spread(frame: Frame, value: Value, targets: list[ast.expr], node: ast.AST) -> list[Value]:
    """The values that unpacking gives to each target."""
    n = len(targets)
    stars = [i for i, t in enumerate(targets) if isinstance(t, ast.Starred)]
    if isinstance(value, Union):
        columns = [spread(frame, option, targets, node) for option in value.options if not _is_none(option)]
        if columns:
            result = columns[0]
            for column in columns[1:]:
                result = [join(a, b) for a, b in zip(result, column, strict=True)]
            return result
    items = sequence_items(frame, value)
    if items is not None:
        if not stars and len(items) == n:
            return list(items)
        if len(stars) == 1 and len(items) >= n - 1:
            i = stars[0]
            after = n - 1 - i
            middle = items[i : len(items) - after]
            tail = list(items[len(items) - after :]) if after else []
            return [*items[:i], Seq("list", tuple(middle)), *tail]
    if isinstance(value, Seq) and value.kind == "size" and value.length and not stars:
        return [Scalar("int", "size", frame.origin(node), (value.length, i)) for i in range(n)]
    if (
        isinstance(value, Seq)
        and value.kind == "size"
        and isinstance(value.elem, Scalar)
        and value.elem.ref
        and not stars
    ):
        tensor, first = value.elem.ref
        return [Scalar("int", "size", frame.origin(node), (tensor, first + i)) for i in range(n)]
    element = expressions.element_of(frame, value, node)
    return [Seq("list", None, element) if i in stars else element for i in range(n)]


def sequence_items(frame: Frame, value: Value) -> tuple[Value, ...] | None:
    """The items of a value with a known length."""
    if isinstance(value, Seq):
        return value.items
    if isinstance(value, Instance):
        return frame.interp.objects.tuple_fields(value)
    if isinstance(value, Tensor):
        return None
    return None


def _is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


__all__ = ["SIZE", "sequence_items", "spread", "store", "with_item"]
