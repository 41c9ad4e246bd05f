"""Hooks of modules: functions that run before and after a forward, and so within a capture of it."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter.bindings import owner_of
from tclint.interpreter.frame import Frame
from tclint.interpreter.models import objects
from tclint.interpreter.models.functions import Args, Keywords
from tclint.interpreter.models.handed_over import call_inside
from tclint.torch_facts import facts
from tclint.values import INPUT, NONE, PARAMETER, UNKNOWN, Instance, Object, Seq, Tensor, Value

HANDLE: Final = "torch.utils.hooks.RemovableHandle"
OF_TENSOR: Final = "hook of a tensor"
OF_INPUT: Final = "hook of what comes in"
"""The kind of a handle that belongs to a tensor which compiled code has made."""
BACKWARD: Final = "module with a backward hook"
"""The feature that a call of one shows, whoever registered the hook before the region is run."""
_OF_TENSORS: Final = facts.methods("traces the function it is given")
_KINDS: Final = {
    "before": facts.named("registers a hook before the forward"),
    "after": facts.named("registers a hook after the forward"),
    "backward": facts.named("registers a backward hook"),
}


def register(frame: Frame, node: ast.AST, module: Value, method: str, args: Args) -> Value:
    """`module.register_forward_hook(hook)`: the handle; unknown for other methods."""
    for when, names in _KINDS.items():
        if method in names and args:
            if frame.region is None and not frame.maybe:
                frame.interp.recordings.do("hook", (owner_of(module), when), frame, node, args[0])
            return Object(HANDLE, frame.origin(node))
    return UNKNOWN


def register_of_tensor(frame: Frame, node: ast.AST, tensor: Tensor, name: str, args: Args) -> Value | None:
    """`tensor.register_hook(hook)`: the handle; None for other methods.

    In compiled code the hook of a tensor that the region computes is traced where it is registered, as a graph of its own.
    """
    if name not in _OF_TENSORS:
        return None
    if frame.region is None:
        return Object(HANDLE, frame.origin(node))
    full = f"Tensor.{name}"
    own = not tensor.flags & (INPUT | PARAMETER)
    if args and own and full in facts.at(frame.interp.options.release).named("traces the function it is given"):
        gradient = Tensor(tensor.conf, tensor.dtype, tensor.ndim, 0, frame.origin(node))
        call_inside(frame, node, full, args[0], [gradient])
    return Object(HANDLE, frame.origin(node), OF_TENSOR if own else OF_INPUT)


def run(frame: Frame, node: ast.AST, module: Value, args: Args, result: Value) -> None:
    """What the hooks of a module do while it is captured, or compiled."""
    if not frame.capturing and frame.region is None:
        return
    recordings = frame.interp.recordings
    if not recordings.hooked:
        return
    # The call of a layer says so itself; a container's is that of its parts.
    noted = isinstance(module, Object) and module.kind == "backward-hook" and module.args is None
    # Of a module of the program that is compiled itself Dynamo sees the forward alone; one of torch is wrapped as a whole.
    itself = isinstance(module, Instance) and frame.call_node is node
    if frame.region is not None and not noted and not itself and recordings.hooks(owner_of(module), "backward"):
        frame.interp.emitter.feature(frame, node, BACKWARD)
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


objects.register(HANDLE, method=_method)
