"""Hooks of modules: functions that run before and after a forward, and so within a capture of it."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter.bindings import owner_of
from tclint.interpreter.frame import Frame
from tclint.interpreter.models import objects
from tclint.interpreter.models.functions import Args, Keywords
from tclint.torch_facts import facts
from tclint.values import NONE, UNKNOWN, Object, Seq, Value

_HANDLE: Final = "torch.utils.hooks.RemovableHandle"
_KINDS: Final = {
    "before": facts.named("registers a hook before the forward"),
    "after": facts.named("registers a hook after the forward"),
    "backward": facts.named("registers a backward hook"),
}


def register(frame: Frame, node: ast.AST, module: Value, method: str, args: Args) -> Value:
    """`module.register_forward_hook(hook)` in eager code: the handle; unknown for other methods."""
    for when, names in _KINDS.items():
        if method in names and args and frame.region is None:
            if not frame.maybe:
                frame.interp.recordings.do("hook", (owner_of(module), when), frame, node, args[0])
            return Object(_HANDLE, frame.origin(node))
    return UNKNOWN


def run(frame: Frame, node: ast.AST, module: Value, args: Args, result: Value) -> None:
    """What the hooks of a module do while it is captured, or compiled."""
    if not frame.capturing and frame.region is None:
        return
    recordings = frame.interp.recordings
    for hook in recordings.hooks(owner_of(module), "before"):
        hook.call(frame, node, [module, Seq("tuple", tuple(args))], {})
    for hook in recordings.hooks(owner_of(module), "after"):
        hook.call(frame, node, [module, Seq("tuple", tuple(args)), result], {})


def _method(
    frame: Frame, node: ast.AST, receiver: Object, name: str, args: Args, keywords: Keywords, open_ended: bool
) -> Value | None:
    if name != "remove" or frame.region is not None:
        return None
    frame.interp.recordings.do("unhook", receiver.origin.node, frame, node)
    return NONE


objects.register(_HANDLE, method=_method)
