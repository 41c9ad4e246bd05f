"""`getattr`, `hasattr`, `setattr`, `delattr`: attributes by their names."""

from __future__ import annotations

import ast

from tclint import events
from tclint.interpreter import answering, bindings
from tclint.interpreter.frame import Frame
from tclint.interpreter.models.functions import Args, Keywords
from tclint.torch_facts import facts, returns
from tclint.values import (
    ARRAY,
    BOOL,
    FALSE,
    NAMED,
    NONE,
    PARAMETER,
    TRUE,
    UNKNOWN,
    ClassValue,
    Compiled,
    Const,
    External,
    Instance,
    Tensor,
    Value,
)


def getattr_of(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if len(args) >= 2 and isinstance(args[1], Const) and isinstance(args[1].value, str):
        if len(args) == 3 and _lacks(frame, args[0], args[1].value):
            return args[2]
        found = args[0].attribute(frame, node, args[1].value)
        if isinstance(found, External) and len(args) == 3 and facts.callable_somewhere(found.name):
            return found if facts.has(found.name, frame.interp.options.release) else args[2]
        return found
    if len(args) >= 2 and isinstance(args[0], Instance):
        return frame.interp.objects.dynamic_attribute(args[0])
    return UNKNOWN


def _lacks(frame: Frame, value: Value, name: str) -> bool:
    """Whether compiled code asks a plain tensor for what only other classes of tensors have: `device_mesh`.

    Parameters often carry marks that somebody has put on them, and tensors of one's own class have more than others.
    """
    if frame.region is None or not isinstance(value, Tensor) or value.cls is not None or value.conf <= NAMED:
        return False
    return not (value.flags & (ARRAY | PARAMETER) or name.startswith("_") or returns.is_of_tensors(name))


def hasattr_of(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if len(args) == 2 and isinstance(args[1], Const) and isinstance(args[1].value, str):
        if _lacks(frame, args[0], args[1].value):
            return FALSE
        if isinstance(args[0], Instance) and frame.interp.classes.find_method(args[0].cls, args[1].value) is not None:
            return TRUE
    if len(args) == 2 and isinstance(args[1], Const) and isinstance(args[0], External):
        name = f"{args[0].name}.{args[1].value}"
        if name == "torch._dynamo.mark_unbacked":
            return FALSE
        if facts.has(name, frame.interp.options.release):
            return TRUE
    if (
        len(args) == 2
        and isinstance(args[0], Compiled)
        and args[0].is_wrapper
        and args[1].key == Const("_orig_mod").key
    ):
        return TRUE
    if args and isinstance(args[0], ClassValue):
        base = frame.interp.classes.external_base(args[0].cls)
        frame.interp.emitter.feature(frame, node, f"question for data of a class below {base}")
    return BOOL


def setattr_of(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    if len(args) != 3:
        return NONE
    receiver, name, value = args
    text = name.value if isinstance(name, Const) and isinstance(name.value, str) else ""
    frame.interp.emitter.emit(events.Store, frame, node, "attribute", receiver, text, value, None, False, None)
    if text:
        frame.interp.recordings.bind(frame, bindings.of_attribute(frame, receiver, text), node, value)
    if isinstance(receiver, Compiled):
        receiver = receiver.target
    if isinstance(receiver, Instance):
        if text and frame.region is None:
            frame.interp.account.write_attribute(frame, node, receiver, text, value)
        frame.interp.instance_attributes.store(frame, receiver, text or "*", value)
    return NONE


def delattr_of(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    place = node.args[0] if isinstance(node, ast.Call) and len(node.args) == len(args) == 2 else None
    if place is not None and isinstance(node, ast.Call) and isinstance(args[1], Const):
        answering.tell_deleted(frame, node, place, args[0], str(args[1].value))
    return NONE
