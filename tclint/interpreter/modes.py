"""Modes of torch that code enters: Dynamo guards on those that are in force at a call."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.values import Const, External
from tclint.values.moments import Mode

_NO_GRAD: Final = frozenset({"no_grad", "inference_mode"})
_MODES: Final = _NO_GRAD | {"enable_grad", "set_grad_enabled", "autocast"}


def enter_mode(frame: Frame, context: ast.expr) -> None:
    """`with torch.no_grad():` and the like, also as a decorator."""
    called = context.func if isinstance(context, ast.Call) else context
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    if name not in _MODES or frame.region is not None:
        return
    if name in _NO_GRAD:
        frame.grad = False
    given: list[object] = []
    if isinstance(context, ast.Call):
        with frame.interp.emitter.silence:
            for node in (*context.args, *(keyword.value for keyword in context.keywords)):
                value = evaluate(frame, node)
                given.append(value.key if isinstance(value, (Const, External)) else None)
    mode = Mode(name, tuple(given), frame.module.path, context.lineno, context.col_offset)
    frame.modes = (*frame.modes, mode)
