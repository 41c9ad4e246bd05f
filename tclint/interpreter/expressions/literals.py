"""Constants, and displays of tuples, lists, sets, dicts and slices."""

from __future__ import annotations

import ast
from typing import Any

from tclint import events
from tclint.interpreter.evaluate import evaluate, handles
from tclint.interpreter.frame import Frame
from tclint.interpreter.overwrites import gathered, operands_read
from tclint.values import (
    FALSE,
    NONE,
    OWNED,
    TRUE,
    UNKNOWN,
    ClassValue,
    Const,
    Dict,
    External,
    FunctionValue,
    Instance,
    Member,
    Object,
    Seq,
    Value,
    join,
    join_all,
)
from tclint.values.dict import Held


def _constant(frame: Frame, node: ast.Constant) -> Value:
    value = node.value
    if value is None:
        return NONE
    if value is True:
        return TRUE
    if value is False:
        return FALSE
    if value is Ellipsis:
        return External("builtins.Ellipsis")
    return Const(value)


def _tuple(frame: Frame, node: ast.Tuple) -> Value:
    return _sequence(frame, node.elts, "tuple")


def _list(frame: Frame, node: ast.List) -> Value:
    return _sequence(frame, node.elts, "list")


def _set(frame: Frame, node: ast.Set) -> Value:
    value = _sequence(frame, node.elts, "set")
    if frame.region is not None and isinstance(value, Seq) and value.items is not None:
        for element, item in zip(node.elts, value.items, strict=False):
            frame.interp.emitter.emit(events.Operation, frame, element, "member", item, NONE)
    return value


def _sequence(frame: Frame, elements: list[ast.expr], kind: str) -> Value:
    items: list[Value] = []
    known = True
    memory = frame.interp.graph_memory
    runs = memory.runs
    for element in elements:
        if type(element) is ast.Starred:
            value = evaluate(frame, element.value)
            gathered(frame, element, value)
            frame.interp.emitter.walk(frame, element, "* of", value, element.value)
            inner = value.known_items(frame) if isinstance(value, (Seq, ClassValue)) else None
            if inner is not None:
                items.extend(inner)
            else:
                known = False
                items.append(value.iterate(frame, element))
        else:
            items.append(evaluate(frame, element))
        if memory.runs != runs:
            before = items[:-1]
            if len(before) < len(elements) and any(v.contains(OWNED) is not None for v in before):
                # Both outputs are made before either is used.
                operands_read(frame, list(zip(elements, before, strict=False)), runs)
                items[:-1] = [memory.later(v, runs) for v in before]
            runs = memory.runs
    if known and len(items) <= 64:
        return Seq(kind, tuple(items))
    return Seq(kind, None, join_all(items))


def _dict(frame: Frame, node: ast.Dict) -> Value:
    items: dict[Any, Value] = {}
    elem: Value | None = None
    objects = False
    memory = frame.interp.graph_memory
    runs = memory.runs
    for key, value_node in zip(node.keys, node.values, strict=True):
        value = evaluate(frame, value_node)
        if memory.runs != runs:
            given = {k.value: v for k, v in zip(node.keys, node.values, strict=True) if isinstance(k, ast.Constant)}
            operands_read(frame, [(given[k], v) for k, v in items.items() if k in given], runs)
            items = {k: memory.later(v, runs) for k, v in items.items()}
            runs = memory.runs
        if key is None:
            if isinstance(value, Dict):
                items.update(value.items)
                if value.elem is not None:
                    elem = value.elem if elem is None else join(elem, value.elem)
            else:
                if isinstance(value, Object):
                    frame.interp.emitter.feature(frame, value_node, f"** of a {value.name}")
                frame.interp.emitter.spread(frame, value_node, "** of", value)
                elem = UNKNOWN
            continue
        name = evaluate(frame, key)
        objects = objects or _is_object(name)
        frame.interp.emitter.emit(events.Operation, frame, key, "key", name, value)
        if isinstance(name, Const) and len(items) < 64:
            items[name.value] = value
        elif name.is_definition and len(items) < 64:
            items[Held(name)] = value
        else:
            elem = value if elem is None else join(elem, value)
    return Dict(items, elem, objects=objects)


def _is_object(key: Value) -> bool:
    """Whether a key is no plain value: an object, a class or a function; dtypes and the like are plain to Dynamo."""
    builtin = type(key) is External and key.name.startswith("builtins.")
    return builtin or isinstance(key, (Member, Instance, ClassValue, FunctionValue))


def _slice(frame: Frame, node: ast.Slice) -> Value:
    items = tuple(NONE if part is None else evaluate(frame, part) for part in (node.lower, node.upper, node.step))
    return Seq("slice", items)


def _starred(frame: Frame, node: ast.Starred) -> Value:
    return evaluate(frame, node.value)


def _lambda(frame: Frame, node: ast.Lambda) -> Value:
    if frame.region is None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                value = evaluate(frame, default)
                if value.contains(OWNED) is not None:
                    frame.interp.emitter.emit(
                        events.Store, frame, default, "default", UNKNOWN, "", value, None, False, None
                    )
    parent = frame.function
    if parent is None:
        return frame.interp.functions.module_lambda(frame, node)
    return FunctionValue(parent.nested(node, "<lambda>"), None, frame.env)


handles(ast.Constant, _constant)
handles(ast.Tuple, _tuple)
handles(ast.List, _list)
handles(ast.Set, _set)
handles(ast.Dict, _dict)
handles(ast.Slice, _slice)
handles(ast.Starred, _starred)
handles(ast.Lambda, _lambda)
