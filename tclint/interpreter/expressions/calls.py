"""Calls: who is called, with what."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter import bindings, exceptions, unfollowed
from tclint.interpreter.evaluate import evaluate, handles, holder
from tclint.interpreter.expressions import passed_tests, taken
from tclint.interpreter.frame import Frame
from tclint.interpreter.overwrites import gathered, operands_read, receiver_read
from tclint.interpreter.stores import note_update
from tclint.sources.tree import bound_on_self
from tclint.torch_facts import facts
from tclint.values import (
    INPUT,
    NAMED,
    RAW,
    UNKNOWN,
    Dict,
    External,
    Instance,
    Seq,
    Super,
    Tensor,
    Value,
)

Args = list[Value]
Keywords = dict[str, Value]
_NO_READ: Final = frozenset(
    {"append", "appendleft", "extend", "extendleft", "insert", "add", "update", "clear", "put"}
    | {name.removeprefix("Tensor.") for name in facts.named("gives a size")}
)
"""Methods that put something into a container, or empty it, or ask a tensor for its sizes: they read nothing that is in it."""


def _call(frame: Frame, node: ast.Call) -> Value:
    func_node = node.func
    if type(func_node) is ast.Attribute:
        base = func_node.value
        if type(base) is ast.Name and base.id in frame.paths:
            override = frame.env.get(f"{base.id}.{func_node.attr}")
            if override is not None:
                args, keywords, open_ended = arguments(frame, node)
                return override.call(frame, node, args, keywords, open_ended)
        if frame.region is None and frame.interp.compile_sites.configured is not None:
            named = frame.interp.compile_sites.configured_callable(frame, func_node)
            if named is not None:
                args, keywords, open_ended = arguments(frame, node)
                return named.call(frame, node, args, keywords, open_ended)
        if type(base) is ast.Call and type(base.func) is ast.Name and base.func.id == "super":
            receiver = _super(frame, base)
        else:
            receiver = holder(frame, base) if func_node.attr in _NO_READ else evaluate(frame, base)
        if frame.capturing and type(receiver) is Instance:
            held = frame.interp.instance_attributes.of(receiver).get(func_node.attr)
            if held is not None:
                place = bindings.of_attribute(frame, receiver, func_node.attr)
                frame.interp.recordings.read(frame, place, func_node, held)
        memory = frame.interp.graph_memory
        runs = memory.runs
        args, keywords, open_ended = arguments(frame, node)
        if memory.runs != runs:
            receiver_read(frame, base, receiver, runs)
            receiver = memory.later(receiver, runs)
        if type(receiver) is Dict and func_node.attr == "update" and frame.region is None:
            note_update(frame, base, node, args, keywords)
        if frame.region is not None and type(receiver) is Tensor and "try" in frame.blocks and receiver.conf > NAMED:
            if exceptions.lacks(frame, func_node, receiver):
                comes_in = receiver.flags & (INPUT | RAW) == INPUT | RAW
                who = "a tensor that comes in" if comes_in else "a tensor"
                exceptions.fails(frame, node, f"method that {who} has not")
        result = receiver.call_method(frame, node, func_node.attr, args, keywords, open_ended)
        if frame.region is not None and node.args:
            taken.tell(frame, node, receiver, func_node.attr)
        if frame.region is not None and frame.region.site is not None and UNKNOWN in result.options:
            unfollowed.method(frame, node, func_node, receiver, [*args, *keywords.values()])
        if frame.region is None and type(base) is ast.Name and base.id in frame.paths and type(receiver) is Instance:
            _forget_paths(frame, base.id, receiver, func_node.attr)
        if frame.capturing:
            frame.interp.recordings.make(node, result)
        return result
    func = evaluate(frame, func_node)
    if type(func) is External and func.name == "builtins.super":
        return _super(frame, node)
    args, keywords, open_ended = arguments(frame, node)
    result = func.call(frame, node, args, keywords, open_ended)
    if frame.region is not None and node.args:
        taken.tell(frame, node, func)
    if frame.region is not None and frame.region.site is not None and UNKNOWN in result.options:
        unfollowed.function(frame, func_node, func, [*args, *keywords.values()])
    if frame.capturing:
        frame.interp.recordings.make(node, result)
    return result


def _forget_paths(frame: Frame, name: str, receiver: Instance, called: str) -> None:
    """A method may have bound attributes anew of which this frame knows what they held before."""
    method = frame.interp.classes.find_method(receiver.cls, called)
    if method is not None:
        for attribute in method.node_index(bound_on_self):
            frame.env.pop(f"{name}.{attribute}", None)


def _super(frame: Frame, node: ast.Call) -> Value:
    cls = frame.cls
    if len(node.args) >= 1 and isinstance(node.args[0], ast.Name):
        named = frame.interp.classes.of(frame.interp.names.value(frame.module, node.args[0].id))
        cls = named or cls
    function = frame.function
    if cls is None or function is None:
        return UNKNOWN
    parameters = function.node.args
    first = (*parameters.posonlyargs, *parameters.args)
    name = first[0].arg if first else "self"
    instance = frame.env.get(name) or (frame.closure or {}).get("self", UNKNOWN)
    return Super(instance, cls)


def arguments(frame: Frame, node: ast.Call) -> tuple[Args, Keywords, bool]:
    """The argument values; the last is True where `*args` or `**kwargs` may hold more than is known."""
    args: Args = []
    keywords: Keywords = {}
    open_ended = False
    memory = frame.interp.graph_memory
    runs = memory.runs
    for i, argument in enumerate(node.args):
        if type(argument) is ast.Starred:
            value = evaluate(frame, argument.value)
            gathered(frame, argument, value)
            frame.interp.emitter.walk(frame, argument, "* in a call of", value, argument.value)
            exceptions.fails_to_unpack(frame, node, value, "* in a call of a number")
            if isinstance(value, Seq) and value.items is not None:
                args.extend(value.items)
            else:
                open_ended = True
                length = value.length if isinstance(value, Seq) else ""
                args.append(Seq("star", None, value.iterate(frame, argument), length))
        else:
            args.append(passed_tests.as_known(frame, argument, evaluate(frame, argument)))
        if memory.runs != runs:
            if i and len(args) == i + 1:
                operands_read(frame, list(zip(node.args, args[:-1], strict=False)), runs)
                args[:-1] = [memory.later(a, runs) for a in args[:-1]]
            runs = memory.runs
    for keyword in node.keywords:
        value = passed_tests.as_known(frame, keyword.value, evaluate(frame, keyword.value))
        if memory.runs != runs:
            given = {k.arg: k.value for k in node.keywords}
            operands_read(frame, [(given[k], v) for k, v in keywords.items() if k in given], runs)
            if len(args) == len(node.args):
                operands_read(frame, list(zip(node.args, args, strict=True)), runs)
            runs = memory.runs
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Dict):
            for k, v in value.items.items():
                if isinstance(k, str):
                    keywords[k] = v
            if value.elem is not None:
                open_ended = True
        else:
            frame.interp.emitter.spread(frame, keyword.value, "** in a call of", value)
            open_ended = True
    return args, keywords, open_ended


handles(ast.Call, _call)
