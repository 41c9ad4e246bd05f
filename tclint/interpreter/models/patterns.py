"""einops: what a pattern makes of a tensor is one, with as many axes as the pattern writes."""

from __future__ import annotations

import ast
import re
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.interpreter.models import objects
from tclint.interpreter.models.functions import Args, Keywords, instance, is_class, library
from tclint.interpreter.models.measured import joined, value_of, ways
from tclint.interpreter.models.results import first_tensor
from tclint.torch_facts import calls, facts, traits
from tclint.values import UNKNOWN, USED, Const, Object, Tensor, Value

_CALL: Final = ".__call__"
_LAYERS: Final = tuple(name.removesuffix(_CALL) for name in facts.named("gives a tensor for a tensor, by a pattern"))
_AXIS: Final = re.compile(r"\([^)]*\)|\S+")


def _rank(values: Args) -> int:
    """The axes of the right side of a pattern; -1 where it is not written out, or says `...`."""
    for value in values:
        if isinstance(value, Const) and isinstance(value.value, str) and "->" in value.value:
            axes = _AXIS.findall(value.value.rpartition("->")[2])
            return -1 if "..." in axes else len(axes)
    return -1


def _result(frame: Frame, node: ast.AST, key: str, args: Args, keywords: Keywords, pattern: Args) -> Tensor:
    """A tensor, or an array where one is given: what is neither cannot be taken apart by a pattern."""
    given = first_tensor(args, keywords) or Tensor(USED, "", -1, 0, frame.origin(node))
    given = given.with_(conf=max(given.conf, USED))
    rank = _rank(pattern)
    if traits.is_view_function(key):
        return given.view(frame.origin(node), rank)
    return given.derived(frame.origin(node), "", rank)


def _function(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    if is_class(name):
        made = instance(frame, node, name, args, keywords, open_ended)
        return made.with_args(args[0]) if isinstance(made, Object) and args else made
    key = calls.key_of(name)
    made_of = joined(ways(frame, name, None, args, keywords)) if key is not None else None
    if key is not None and all(form.result.is_tensor or form.result.name == "ndarray" for form in traits.forms(key)):
        return _result(frame, node, key, args, keywords, [*args, *keywords.values()])
    return value_of(made_of, frame.origin(node)) if made_of is not None else UNKNOWN


def _layer(frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    pattern = (func.args,) if func.args is not None else ()
    result = _result(frame, node, func.name + _CALL, args, keywords, pattern)
    frame.interp.emitter.call(frame, node, func.name + _CALL, args, keywords, func, result)
    return result


library(["einops"], _function)
objects.register(*_LAYERS, call=_layer)
