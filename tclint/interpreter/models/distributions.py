"""Distributions of torch: what they draw, compute and hold are tensors."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models import objects
from tclint.interpreter.models.functions import Args, Handler, Keywords
from tclint.interpreter.models.torch_functions import function
from tclint.torch_facts import facts
from tclint.values import PROVEN, Method, Object, Tensor, Value

_COMPUTED: Final = frozenset(facts.named("is computed by a distribution"))
_HELD: Final = frozenset(facts.named("is held by a distribution"))


def _made(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    function(frame, node, name, args, keywords)  # which tells what there is to tell of any call of torch
    return Object(name, frame.origin(node))


def _method(
    frame: Frame, node: ast.AST, receiver: Object, name: str, args: Args, keywords: Keywords, open_ended: bool
) -> Value | None:
    if name not in _COMPUTED:
        return None
    result = Tensor(PROVEN, "", -1, 0, frame.origin(node))
    frame.interp.emitter.call(frame, node, f"{receiver.name}.{name}", args, keywords, receiver, result)
    return result


def _attribute(frame: Frame, node: ast.AST, receiver: Object, name: str) -> Value:
    return Tensor(PROVEN, "", -1, 0, frame.origin(node)) if name in _HELD else Method(receiver, name)


BY_NAME: Final[dict[str, Handler]] = dict.fromkeys(facts.named("is a distribution"), _made)
objects.register(*BY_NAME, attribute=_attribute, method=_method)
