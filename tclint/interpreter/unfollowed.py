"""What compiled code calls and nobody knows: the module that `self.backbone(x)` runs, where nothing in sight says which it is.

Nothing is found in there, however much there is to find. So that nobody takes silence for a clean model, the summary names it.
"""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.torch_facts import facts
from tclint.values import UNKNOWN, Instance, Seq, Value, tensor_of
from tclint.values.constant import is_none
from tclint.values.object import is_some_module

_STARRED: Final = "star"
"""The kind of sequence that stands for arguments nobody counts: `self.inner(*args)` in a wrapper."""
_CONTAINERS: Final = frozenset(name for kind in (dict, list, set, str, bytes) for name in dir(kind))


def is_open(value: Value) -> bool:
    """Whether a value may be any module: nothing is known of it, or of one of those that it can be."""
    if value is UNKNOWN:
        return True
    options = value.options
    if len(options) == 1:
        return is_some_module(value)
    if UNKNOWN not in options and not is_some_module(value):
        return False
    return all(each is UNKNOWN or each.is_code or is_none(each) or is_some_module(each) for each in options)


def function(frame: Frame, node: ast.expr, callee: Value, given: list[Value]) -> None:
    """Compiled code calls something of which it is not known what it gives."""
    if isinstance(node, ast.Name) and node.id in frame.env and is_open(callee):
        _tell(frame, node, given)


def method(frame: Frame, node: ast.Call, named: ast.Attribute, receiver: Value, given: list[Value]) -> None:
    """Compiled code calls an attribute of something: `self.backbone(x)`, `self.backbone.blocks(x)`."""
    if isinstance(receiver, Instance):
        if not _is_inherited(frame, receiver, named.attr):
            with frame.interp.emitter.silence:
                callee = evaluate(frame, named)
            if is_open(callee):
                _tell(frame, named, given)
    elif is_open(receiver) and named.attr not in _CONTAINERS and isinstance(named.value, ast.Attribute):
        if not facts.has(f"torch.Tensor.{named.attr}", frame.interp.options.release):
            _tell(frame, named.value, given)


def _tell(frame: Frame, node: ast.expr, given: list[Value]) -> None:
    told = any(tensor_of(each) is not None or isinstance(each, Seq) and each.kind == _STARRED for each in given)
    if frame.function is not None and told:
        name = _shortest(frame, node)
        if name:
            frame.interp.results.unfollowed.setdefault(frame.function.place, {})[name] = None


def _shortest(frame: Frame, node: ast.expr) -> str:
    """The name of what is unknown, as short as it is: `self.backbone` of `self.backbone.blocks`; nothing for what has none."""
    if isinstance(node, ast.Name):
        return node.id
    chain: list[ast.Attribute] = []
    while isinstance(node, ast.Attribute):
        chain.append(node)
        node = node.value
    owner = frame.env.get(node.id) if isinstance(node, ast.Name) else None
    if not isinstance(owner, Instance):
        return ""
    for each in reversed(chain):
        with frame.interp.emitter.silence:
            owner = evaluate(frame, each)
        if is_open(owner):
            return ast.unparse(each)
    return ""


def _is_inherited(frame: Frame, owner: Instance, name: str) -> bool:
    """Whether an attribute is one that a class of torch gives its subclasses: `class Block(nn.TransformerEncoderLayer)`."""
    classes = frame.interp.classes
    base = classes.external_base(owner.cls)
    if not base.startswith("torch.") or base in _OPEN or classes.definition(owner.cls, name) is not None:
        return False
    return name not in frame.interp.instance_attributes.of(owner)


_OPEN: Final = frozenset({"torch.nn.Module", "torch.nn.modules.module.Module"})
"""Bases that give nothing of their own to call."""
