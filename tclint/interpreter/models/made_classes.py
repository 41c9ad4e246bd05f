"""Classes that `type(name, bases, fields)` makes in compiled code."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models import objects
from tclint.interpreter.models.functions import Args, Keywords
from tclint.values import UNKNOWN, Dict, Object, Value, tensor_of

_MADE: Final = "type()"


def made_class(frame: Frame, node: ast.AST, fields: Value) -> Value:
    """The class, with what its body would hold."""
    if isinstance(fields, Dict) and any(tensor_of(value) is not None for value in fields.items.values()):
        frame.interp.emitter.feature(frame, node, "class that type() makes of tensors")
    return Object(_MADE, frame.origin(node), "", fields)


def _attribute(frame: Frame, node: ast.AST, receiver: Object, name: str) -> Value:
    known = receiver.args.items if isinstance(receiver.args, Dict) else {}
    return known.get(name, UNKNOWN)


def _call(frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    frame.interp.emitter.feature(frame, node, "object of a class that type() makes")
    return UNKNOWN


objects.register(_MADE, attribute=_attribute, call=_call)
