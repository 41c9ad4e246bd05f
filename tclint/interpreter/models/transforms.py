"""Transforms, layers and functions of libraries beside torch: what they make of a tensor is one."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models import objects
from tclint.interpreter.models.functions import Args, Keywords, library, other
from tclint.torch_facts import facts
from tclint.values import UNKNOWN, USED, Object, Seq, Tensor, Value, tensor_of

_TRANSFORMS: Final = facts.named("gives a tensor for a tensor")
_MASKED: Final = facts.named("gives a tensor and its mask for a tensor")
# Nobody hands these an image or an array: what is not known is a tensor, too.
_OF_TENSORS: Final = tuple(name.removesuffix("*") for name in facts.named("takes tensors alone"))
_CALL: Final = ".__call__"
_CHAINS: Final = facts.named("calls one after the other what it is given")


def _result(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords) -> Value:
    given = next((tensor for value in (*args, *keywords.values()) if (tensor := tensor_of(value)) is not None), None)
    sure = USED if name.startswith(_OF_TENSORS) else 0
    conf = max(given.conf if given is not None else 0, sure)
    if not conf:
        return UNKNOWN
    made = Tensor(conf, "", -1, 0, frame.origin(node))
    return Seq("tuple", (made, made.with_(dtype="b"))) if name in _MASKED else made


def _function(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    if name in _TRANSFORMS or name in _MASKED:
        return _result(frame, node, name, args, keywords)
    if name in _CHAINS:
        return Object(name, frame.origin(node), "", args[0] if args else keywords.get("transforms", UNKNOWN))
    return other(frame, node, name, args, keywords, open_ended)


def _call(frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    result = _result(frame, node, func.name + _CALL, args, keywords)
    frame.interp.emitter.call(frame, node, func.name + _CALL, args, keywords, func, result)
    return result


def _through(frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """`Compose([a, b])(x)`: what each of them makes of it."""
    parts = func.args.items if isinstance(func.args, Seq) else None
    if parts is None or len(args) != 1:
        return UNKNOWN
    current = args[0]
    for part in parts:
        current = part.call(frame, node, [current], {})
    return current


library(sorted({name.partition(".")[0] for name in (*_TRANSFORMS, *_MASKED)}), _function)
objects.register(*(name.removesuffix(_CALL) for name in _TRANSFORMS if name.endswith(_CALL)), call=_call)
objects.register(*_CHAINS, call=_through)
