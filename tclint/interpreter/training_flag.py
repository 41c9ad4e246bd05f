"""Modules that compute something else in training: only of those Dynamo guards on the flag."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter.frame import RARE, TRAINS, Env, Frame
from tclint.program import Class
from tclint.sources.tree import nodes
from tclint.torch_facts import facts
from tclint.values import UNKNOWN, Const, Dict, External, FunctionValue, Instance, Object, Scalar, Seq, Tensor, Value

_ROOT: Final = "torch.nn.Module"
_DEPTH: Final = 6
_PLAIN: Final = frozenset(facts.named("computes the same in training"))
# What is called by such a name takes the flag, or is a module that may look at it and was filled in where nobody sees it.
_FLAGGED: Final = ("dropout", "norm")


def looks_at_mode(frame: Frame, value: Value, depth: int = _DEPTH) -> bool:
    """Whether a module, or something in it, may look at `self.training`. What is not known, may."""
    if isinstance(value, (Const, Scalar, External, Tensor)):
        return False
    if depth == 0 or value is UNKNOWN:
        return True
    if isinstance(value, Seq):
        parts = value.items if value.items is not None else (value.elem,)
        return any(looks_at_mode(frame, part, depth - 1) for part in parts)
    if isinstance(value, Dict):
        parts = (*value.items.values(), *((value.elem,) if value.elem is not None else ()))
        return any(looks_at_mode(frame, part, depth - 1) for part in parts)
    if isinstance(value, Object):
        if isinstance(value.args, (Seq, Dict)):
            return looks_at_mode(frame, value.args, depth - 1)
        return value.name not in _PLAIN
    if isinstance(value, Instance):
        return _object_looks(frame, value, depth)
    return not isinstance(value, FunctionValue) or value.bound is not None


def _object_looks(frame: Frame, value: Instance, depth: int) -> bool:
    classes = frame.interp.classes
    if classes.external_base(value.cls) != _ROOT or any(map(_reads_mode, classes.mro(value.cls))):
        return True
    held = frame.interp.instance_attributes.of(value)
    return "*" in held or any(looks_at_mode(frame, part, depth - 1) for part in held.values())


def _reads_mode(cls: Class) -> bool:
    """Whether the text of a class has `self.training`, hands `training=` on, or uses something by a name that goes with it."""
    for node in nodes(cls.node):
        if isinstance(node, ast.keyword) and node.arg == "training":
            return True
        if isinstance(node, ast.Attribute) and (node.attr == "training" or any(w in node.attr for w in _FLAGGED)):
            return True
    return False


def parts_follow(frame: Frame, module: Instance) -> bool:
    """Whether a module and its parts are in training together: no `train` of its own keeps some of them out."""
    return frame.interp.classes.find_method(module.cls, "train") is None


def handed_on(frame: Frame, receiver: Value | None) -> Env:
    """What a call in compiled code hands on: what only an unusual run calls, only an unusual run does, and what is called in
    training is in training; not what a module does with parts that a `train` of its own keeps out."""
    told: Env = {name: frame.env[name] for name in (RARE, TRAINS) if name in frame.env}
    if TRAINS in told and isinstance(receiver, Instance) and not parts_follow(frame, receiver):
        del told[TRAINS]
    return told
