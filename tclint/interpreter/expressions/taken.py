"""What a call of torch was given, told by what torch takes there: behind `x.masked_fill(mask, 0)` `mask` is a Boolean tensor.

It is known behind the call, where the call is done: it would have raised for anything else.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tclint.interpreter.frame import Frame
from tclint.torch_facts import takes
from tclint.values import NAMED, UNKNOWN, USED, External, Instance, Object, Tensor, Value
from tclint.values.union import Union, one_of


def tell(frame: Frame, node: ast.Call, callee: Value, name: str = "") -> None:
    """Let names that were handed over be what the callee takes; with a name, what is called is an attribute of `callee`."""
    wanted: Mapping[int, str] | None = None
    for place, each in enumerate(node.args):
        inverted = isinstance(each, ast.UnaryOp) and type(each.op) is ast.Invert
        named = each.operand if isinstance(each, ast.UnaryOp) and inverted else each
        if not isinstance(named, ast.Name):
            continue
        held = frame.env.get(named.id)
        if held is None or not _is_open(held):
            continue
        if wanted is None:
            # Asked of every call, and most hand over nothing of which it could say more.
            if ast.Starred in map(type, node.args):
                return
            wanted = _wanted(frame, callee, name)
        if place in wanted and (not inverted or wanted[place] == "b"):
            frame.env[named.id] = _as_taken(frame, named, held, wanted[place])


def _is_open(value: Value) -> bool:
    """Whether a call can say more of a value than is known."""
    if isinstance(value, Tensor):
        return value.conf <= NAMED or not value.dtype
    if isinstance(value, Union):
        return any(isinstance(option, Tensor) and _is_open(option) for option in value.options)
    return value is UNKNOWN


def _wanted(frame: Frame, callee: Value, name: str) -> Mapping[int, str]:
    version = frame.interp.options.release
    if isinstance(callee, Tensor):
        return takes.by_method(name, version)
    if isinstance(callee, External):
        return takes.by_function(f"{callee.name}.{name}" if name else callee.name, version)
    if isinstance(callee, Instance) and name:
        callee = frame.interp.instance_attributes.of(callee).get(name, UNKNOWN)
    if isinstance(callee, Object) and callee.name.startswith("torch.nn."):
        return takes.by_layer(callee.name, version)
    return {}


def _as_taken(frame: Frame, node: ast.Name, value: Value, kind: str) -> Value:
    if isinstance(value, Union):
        tensors = [option for option in value.options if isinstance(option, Tensor)]
        return one_of([_as_taken(frame, node, option, kind) for option in tensors])
    if not isinstance(value, Tensor):
        return Tensor(USED, kind, -1, 0, frame.origin(node))
    return value.with_(conf=max(value.conf, USED), dtype=value.dtype or kind)
