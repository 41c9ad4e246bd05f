"""Hooks of modules: functions that run before and after a forward, and so within a capture of it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tclint.interpreter.bindings import owner_of
from tclint.interpreter.frame import Frame
from tclint.interpreter.models import objects
from tclint.interpreter.models.functions import Args, Keywords
from tclint.interpreter.models.handed_over import call_inside
from tclint.program import Class, Module
from tclint.sources.tree import by_kind
from tclint.torch_facts import facts
from tclint.values import (
    INPUT,
    NONE,
    PARAMETER,
    UNKNOWN,
    ClassValue,
    Dict,
    FunctionValue,
    Instance,
    Object,
    Seq,
    Tensor,
    Value,
    join_all,
)

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter

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
            if frame.region is None and not frame.maybe and not (frame.constructing and _is_of_some(frame, node)):
                if frame.constructing and (registrar := _is_handed(frame, module)) is not None:
                    frame.interp.recordings.hooks.handed(node, registrar)
                frame.interp.recordings.do("hook", (owner_of(module), when), frame, node, args[0])
            return Object(HANDLE, frame.origin(node))
    return UNKNOWN


def _is_of_some(frame: Frame, node: ast.AST) -> bool:
    """Whether a constructor registers a hook behind a test: other objects of the class are made without it."""
    at = getattr(node, "lineno", 0)
    return frame.function is not None and any(
        first <= at <= last for first, last in frame.function.node_index(_choices)
    )


def _choices(root: ast.AST) -> tuple[tuple[int, int], ...]:
    """The lines of the arms of the tests of a function."""
    found = by_kind(root)[ast.If]
    return tuple((each.body[0].lineno, each.end_lineno or 0) for each in found)


def _is_handed(frame: Frame, module: Value) -> Class | None:
    """The class whose constructor registers a hook in a module that it has not made: it has been handed that."""
    inner: Frame | None = frame
    while inner is not None and (inner.function is None or not inner.function.is_method):
        inner = inner.parent
    receiver = next(iter(inner.env.values()), None) if inner is not None else None
    if not isinstance(receiver, Instance):
        return None
    order = frame.interp.classes.mro(receiver.cls)
    if isinstance(module, Instance):
        return None if module.key == receiver.key else receiver.cls
    made = module.origin if isinstance(module, Object) else None
    if made is None or any(each.module.path == made.path and _stands_in(made.line, each.node) for each in order):
        return None
    return receiver.cls


def _stands_in(line: int, node: ast.ClassDef) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def registers(name: str) -> bool:
    """Whether a method of a module registers a hook."""
    return any(name in names for names in _KINDS.values())


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


def of_constructor(interp: Interpreter, module: Instance) -> None:
    """Have the constructor of a module run before the module is called, where it may register hooks."""
    if _may_register(interp, module.cls):
        interp.instance_attributes.of(module)


def _may_register(interp: Interpreter, cls: Class) -> bool:
    """Whether a class has a constructor in a file that registers hooks, its own or that of a base."""
    known = interp.knowledge.registers_hooks
    if cls not in known:
        read = all(base.cls in known for base in interp.classes.bases(cls) if isinstance(base, ClassValue))
        for each in (cls,) if read else reversed(interp.classes.mro(cls)):
            if each not in known:
                own = "__init__" in each.methods and each.module.index(_registers)
                bases = (base.cls for base in interp.classes.bases(each) if isinstance(base, ClassValue))
                known[each] = own or any(known.get(base, False) for base in bases)
    return known[cls]


def _registers(module: Module) -> bool:
    """Whether a file names a method that registers a hook."""
    return any(name.encode() in module.data for names in _KINDS.values() for name in names)


def before(frame: Frame, node: ast.AST, module: Value, args: Args, keywords: Keywords) -> tuple[Args, Keywords]:
    """What the hooks of a module do before its forward while it is captured, or compiled; and what they give that to run on."""
    if not _run_here(frame):
        return args, keywords
    held = frame.interp.recordings.hooks
    # The call of a layer says so itself; a container's is that of its parts.
    noted = isinstance(module, Object) and module.kind == "backward-hook" and module.args is None
    # Of a module of the program that is compiled itself Dynamo sees the forward alone; one of torch is wrapped as a whole.
    itself = isinstance(module, Instance) and frame.call_node is node
    if frame.region is not None and not noted and not itself and held.of(frame, owner_of(module), "backward"):
        frame.interp.emitter.feature(frame, node, BACKWARD)
    for registered, hook in held.of(frame, owner_of(module), "before").items():
        named = _takes_keywords(registered)
        given = Seq("tuple", tuple(args))
        made = hook.call(frame, node, [module, given, Dict(keywords)] if named else [module, given], {})
        if held.is_of_all(registered):
            args, keywords = _given(made, args, keywords, named)
    return args, keywords


def after(frame: Frame, node: ast.AST, module: Value, args: Args, keywords: Keywords, result: Value) -> Value:
    """What the hooks of a module do behind its forward, and what they make of what it gives."""
    if not _run_here(frame):
        return result
    held = frame.interp.recordings.hooks
    for registered, hook in held.of(frame, owner_of(module), "after").items():
        given = Seq("tuple", tuple(args))
        named = [Dict(keywords)] if _takes_keywords(registered) else []
        made = hook.call(frame, node, [module, given, *named, result], {})
        others = [each for each in made.options if each is not NONE]
        if made is UNKNOWN and not isinstance(hook, FunctionValue):
            continue  # as a rule it takes a note
        if others and held.is_of_all(registered):
            result = made if len(others) == len(made.options) else join_all([result, *others])
        elif others:
            result = join_all([result, *others])  # of another object of the class it may be no hook
    return result


def _run_here(frame: Frame) -> bool:
    return (frame.capturing or frame.region is not None) and bool(frame.interp.recordings.hooks)


def _takes_keywords(registered: ast.AST) -> bool:
    """`register_forward_hook(hook, with_kwargs=True)`."""
    told = registered.keywords if isinstance(registered, ast.Call) else ()
    return any(k.arg == "with_kwargs" and isinstance(k.value, ast.Constant) and k.value.value is True for k in told)


def _given(made: Value, args: Args, keywords: Keywords, named: bool) -> tuple[Args, Keywords]:
    """What a forward is given behind a hook: what that returned, where it surely returned something."""
    if any(option is NONE or option is UNKNOWN for option in made.options):
        return args, keywords
    items = made.items if isinstance(made, Seq) and made.kind == "tuple" else None
    if not named:
        return (list(items) if items is not None else [made]), keywords
    if items is None or len(items) != 2 or not isinstance(items[0], Seq) or items[0].items is None:
        return args, keywords
    told = dict(items[1].items) if isinstance(items[1], Dict) and items[1].elem is None else keywords
    return list(items[0].items), {str(name): value for name, value in told.items()}


def _method(
    frame: Frame, node: ast.AST, receiver: Object, name: str, args: Args, keywords: Keywords, open_ended: bool
) -> Value | None:
    if name != "remove" or frame.region is not None:
        return None
    frame.interp.recordings.do("unhook", receiver.origin.node, frame, node)
    return NONE


objects.register(HANDLE, method=_method)
