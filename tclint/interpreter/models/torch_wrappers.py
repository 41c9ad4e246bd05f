"""Functions of torch that wrap functions: disable, checkpoint, vmap, graphed callables. And objects of torch that are called."""

from __future__ import annotations

import ast
from typing import Final

from tclint import events
from tclint.interpreter.frame import Frame
from tclint.interpreter.models import graphed, objects, several_devices
from tclint.interpreter.models.functions import Args, Handler, Keywords
from tclint.interpreter.models.handed_over import call_inside
from tclint.interpreter.models.standard_library import IDENTITY
from tclint.interpreter.models.torch_functions import function
from tclint.torch_facts import facts, returns
from tclint.torch_facts.callers import CHECKPOINT
from tclint.values import (
    FIXED,
    INPUT,
    NEEDS_GRAD,
    NO_GRADIENT,
    PARAMETER,
    PINNED,
    PROVEN,
    UNBACKED,
    UNKNOWN,
    ClassValue,
    Const,
    External,
    FunctionValue,
    Instance,
    Object,
    Partial,
    Seq,
    Tensor,
    Value,
    tensor_of,
)

DISABLE: Final = frozenset(facts.named("keeps a function out of the graph"))
IN_GRAPH: Final = frozenset(facts.named("puts a function into the graph as it is"))
_CHECKPOINT: Final = frozenset(facts.named("runs a function under a checkpoint"))
_REPEATS: Final = frozenset(facts.named("repeats a function"))
_TRANSFORMS: Final = frozenset(facts.named("transforms a function"))
_TRANSPARENT: Final = frozenset(facts.named("gives back the function it is given"))
_SCRIPTS: Final = facts.named("makes a scripted function")
_SCRIPTS_MODULES: Final = facts.named("scripts a function or a module")
_MARKS: Final = frozenset(facts.named("marks a dimension"))
_STATIC: Final = frozenset(facts.named("keeps a dimension static"))
_ADDRESS: Final = frozenset(facts.named("keeps a tensor's address"))
CUSTOM_OP: Final = "torch.library.custom_op"


def _transparent(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    return args[0] if args else External(IDENTITY)


def _normed(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """`weight_norm(nn.Conv1d(…))` in an `__init__`: the layer, which computes its weight before each call."""
    result = function(frame, node, name, args, keywords)
    given = args[0] if args else keywords.get("module")
    return given if given is not None and frame.region is None else result


def _disabled(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    return Object(name, frame.origin(node), "disabled", args[0]) if args else External(name)


def _in_graph(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    return in_graph(frame, node, name, args[0]) if args else External(name)


def in_graph(frame: Frame, node: ast.AST, name: str, target: Value) -> Value:
    """A function that the graph calls as it is; a class stays one: what it builds is seen elsewhere."""
    return Object(name, frame.origin(node), "in graph", target) if isinstance(target, FunctionValue) else target


def _checkpoint(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """The function runs as usual, but is a graph of its own.

    That is told where the checkpoint is there for certain: not under a flag, which is off as a rule, and not in a helper,
    which is called under one.
    """
    if not args:
        return function(frame, node, name, args, keywords)
    region = frame.region
    entered = frame.parent is None or (frame.function is not None and frame.function.name == "forward")
    handed_on = {word: value for word, value in keywords.items() if word not in CHECKPOINT}
    if region is None or frame.maybe or not entered:
        return args[0].call(frame, node, args[1:], handed_on, open_ended)
    return call_inside(frame, node, name, args[0], args[1:], open_ended, handed_on)


def _captured(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """`torch.cond(test, then, otherwise, operands)` and its like: each function is traced, as a graph of its own."""
    if frame.region is not None and not frame.maybe:
        given = [*args, *keywords.values()]
        functions = [each for each in given if isinstance(each, FunctionValue)]
        # What a function gets are the operands, or rows of them: of some shape and kind.
        operands = next((each.items for each in reversed(given) if isinstance(each, Seq) and each.items), None)
        for each in functions:
            taken = each.function.node.args.args[1 if each.bound is not None else 0 :]
            passed = list(operands or ()) if operands is not None and len(operands) == len(taken) else []
            blank = [Tensor(PROVEN, "", -1, 0, frame.origin(node)) for _ in taken]
            given_back = call_inside(frame, node, name, each, passed or blank, False)
            number = isinstance(given_back, Tensor) and given_back.dtype and given_back.dtype != "b"
            if number and each is args[0] and name in _REPEATS:
                frame.interp.emitter.feature(frame, node, "condition of a loop in the graph that is a number")
    return function(frame, node, name, args, keywords)


def _mask(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """`create_block_mask(mask_mod, …)`: the function is traced with positions, numbers in tensors, whatever it does with them."""
    given = args[0] if args else keywords.get("mask_mod")
    if given is not None and frame.region is not None:
        # Of many positions at once, as a batch: they index without leaving the graph.
        positions = [Tensor(PROVEN, "i", -1, 0, frame.origin(node)) for _ in range(_POSITIONS)]
        given.call(frame, node, positions, {}, False)
    return function(frame, node, name, args, keywords)


_POSITIONS: Final = 4  # batch, head, query, key


def _transform(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    if not args:
        return function(frame, node, name, args, keywords)
    return Object(name, frame.origin(node), "transform", args[0])


def _scripted(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """`torch.jit.script(…)`: Dynamo traces the Python of a function, and skips a module."""
    given = args[0] if args else None
    module = isinstance(given, Instance) and frame.interp.classes.is_nn_module(given.cls)
    if module or (isinstance(given, Object) and returns.is_module_class(given.name)):
        return Object("torch.jit.ScriptModule", frame.origin(node))
    return _transparent(frame, node, name, args, keywords, open_ended)


def _script(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    return Object("torch.jit.ScriptModule", frame.origin(node))


def _custom_op(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """`custom_op("lib::name", function)`; without a function it is a decorator."""
    return custom_op(frame, node, args[1]) if len(args) > 1 else function(frame, node, name, args, keywords)


def custom_op(frame: Frame, node: ast.AST, target: Value) -> Object:
    """The op that `torch.library.custom_op` makes of a function, as the call that makes it is written.

    It is `unsafe` where its tags keep it out of CUDA graphs, and `foreign` where its function may be for other devices.
    """
    given = {k.arg: k.value for k in node.keywords} if isinstance(node, ast.Call) else {}
    tags = ast.walk(given["tags"]) if "tags" in given else ()
    unsafe = any(isinstance(n, ast.Attribute) and n.attr == "cudagraph_unsafe" for n in tags)
    kind = "unsafe custom op" if unsafe else "foreign custom op" if "device_types" in given else "custom op"
    return Object(CUSTOM_OP, frame.origin(node), kind, target)


def _mark(frame: Frame, node: ast.AST, name: str, args: Args) -> None:
    """`mark_dynamic(x, 0)`: the tensor a name holds carries the mark from here on."""
    if not (isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name) and args):
        return
    tensor = args[0]
    static = name in _STATIC
    if len(args) < 2 and not static and name not in _ADDRESS:
        return
    rank = len(tensor.shape) if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) else 0
    dims = (args[1].known_items(frame) or (args[1],)) if len(args) > 1 else [Const(dim) for dim in range(rank)]
    marked = {d.value for d in dims if isinstance(d, Const) and isinstance(d.value, int)}
    if name in _ADDRESS:
        marked = set()
    elif static:
        marked = {FIXED + d for d in marked}
    elif name.endswith("mark_unbacked"):
        marked |= {UNBACKED + d for d in marked}
    if isinstance(tensor, Tensor):
        flags = tensor.flags | PINNED if name in _ADDRESS else tensor.flags
        updated = tensor.with_(marks=tensor.marks | marked, flags=flags)
        for name, value in list(frame.env.items()):
            if value is tensor:
                frame.env[name] = updated  # one tensor under several names


def _marked(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    if frame.region is None:
        _mark(frame, node, name, args)
    return function(frame, node, name, args, keywords)


def _on_several_devices(
    frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool
) -> Value:
    return several_devices.made(frame, node, name, args, keywords)


def _built(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    """`skip_init(nn.Linear, 8, 8)`: the layer, whose weights are left as they are in memory."""
    if not args:
        return function(frame, node, name, args, keywords)
    return args[0].call(frame, node, args[1:], keywords, open_ended)


BY_NAME: Final[dict[str, Handler]] = {
    **dict.fromkeys(_TRANSPARENT, _transparent),
    **dict.fromkeys(facts.named("gives back the module it is given"), _normed),
    **dict.fromkeys(facts.named("builds the class it is given"), _built),
    **dict.fromkeys(DISABLE, _disabled),
    **dict.fromkeys(IN_GRAPH, _in_graph),
    **dict.fromkeys(_CHECKPOINT, _checkpoint),
    **dict.fromkeys(facts.named("captures functions as graphs of their own"), _captured),
    **dict.fromkeys(facts.named("calls a function with positions"), _mask),
    **dict.fromkeys(_TRANSFORMS, _transform),
    **dict.fromkeys(_SCRIPTS, _script),
    **dict.fromkeys(_SCRIPTS_MODULES, _scripted),
    **dict.fromkeys(_MARKS, _marked),
    **dict.fromkeys(_STATIC, _marked),
    **dict.fromkeys(_ADDRESS, _marked),
    **dict.fromkeys(several_devices.NAMES, _on_several_devices),
    graphed.NAME: graphed.make,
    CUSTOM_OP: _custom_op,
}


def _call_disabled(
    frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords, open_ended: bool
) -> Value:
    frame.interp.emitter.call(frame, node, "disabled", args, keywords, func, UNKNOWN)
    if func.args is not None and frame.region is None:
        return func.args.call(frame, node, args, keywords, open_ended)
    return _promised(frame, node, func)


def _promised(frame: Frame, node: ast.AST, func: Object, computed: Value = UNKNOWN) -> Value:
    """What a function gives that Dynamo does not look into: what its annotation says, or a tensor where it computes one."""
    target = func.args
    told = frame.interp.functions.promised(target.function) if isinstance(target, FunctionValue) else UNKNOWN
    if isinstance(told, Tensor) and isinstance(computed, Tensor):
        return computed
    if told is not UNKNOWN:
        return told
    return (
        Tensor(computed.conf, computed.dtype, computed.ndim, 0, frame.origin(node))
        if isinstance(computed, Tensor)
        else UNKNOWN
    )


def _call_transformed(
    frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords, open_ended: bool
) -> Value:
    """vmap and friends call the function on tensors of one dimension less."""
    assert func.args is not None
    inside = [a.view(a.origin) if isinstance(a, Tensor) else a for a in args]
    tensor = tensor_of(func.args.call(frame, node, inside, keywords, open_ended))
    return Tensor(tensor.conf, tensor.dtype, -1, 0, frame.origin(node)) if tensor is not None else UNKNOWN


def _call_in_graph(
    frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords, open_ended: bool
) -> Value:
    """Dynamo does not look into the function: it is called as it is, with tensors that hold no values."""
    assert func.args is not None
    if frame.region is not None:
        frame.interp.emitter.emit(events.ProgramCall, frame, node, func.args, args, keywords)
    region, frame.region = frame.region, None
    try:
        with frame.interp.emitter.silence:
            result = func.args.call(frame, node, args, keywords, open_ended)
    finally:
        frame.region = region
    return _promised(frame, node, func, result) if region is not None else result


def _call_custom_op(
    frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords, open_ended: bool
) -> Value:
    """Dynamo does not look into a custom op: its function runs as it is, where a CUDA graph is recorded within the capture."""
    assert func.args is not None
    region, capturing = frame.region, frame.capturing
    frame.region = None
    site = region.site if region is not None else None
    frame.capturing = capturing or (func.kind == "custom op" and site is not None and site.cudagraphs)
    try:
        result = func.args.call(frame, node, args, keywords, open_ended)
    finally:
        frame.region, frame.capturing = region, capturing
    if region is not None:
        result = _promised(frame, node, func, result)
    frame.interp.emitter.call(frame, node, func.name + ".__call__", args, keywords, func, result)
    return result


def _call_grad_mode(
    frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords, open_ended: bool
) -> Value:
    if args:
        return args[0]  # used as a decorator
    return objects.unknown_call(frame, node, func, args, keywords)


def _call_context_manager(
    frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords, open_ended: bool
) -> Value:
    frame.interp.emitter.call(frame, node, f"{func.name}.__call__", args, keywords, func, UNKNOWN)
    if frame.region is None and func.args is not None and not open_ended:
        return Object("contextlib.context", frame.origin(node), "", Partial(func.args, tuple(args), dict(keywords)))
    if frame.region is not None and isinstance(func.args, FunctionValue):
        func.args.call(frame, node, args, keywords)  # what the generator does is done where it is entered and left
    return Object("contextlib.context", frame.origin(node), "", func.args)


def _function_method(
    frame: Frame, node: ast.AST, receiver: Object, name: str, args: Args, keywords: Keywords, open_ended: bool
) -> Value | None:
    """`Function.apply(x)` runs `forward(ctx, x)`."""
    if not isinstance(receiver.args, ClassValue):
        return None
    result: Value = UNKNOWN
    forward = frame.interp.classes.find_method(receiver.args.cls, "forward")
    if forward is not None:
        # A class method has its class before the context.
        context: list[Value] = [receiver.args] if frame.interp.classes.method_kind(forward) == "class" else []
        if frame.interp.classes.find_method(receiver.args.cls, "setup_context") is None:
            context.append(Object("torch.autograd.FunctionCtx", frame.origin(node)))
        broken, grad = frame.broken, frame.grad
        frame.grad = False  # torch computes the gradients by `backward`, and follows none through `forward`
        result = FunctionValue(forward).call(frame, node, [*context, *args], {})
        frame.grad = grad
        if grad is not False and any(_may_need_gradient(value) for value in args):
            result = _with_gradient(result)
        traced = frame.region is not None and frame.broken is broken  # where `forward` breaks, `apply` runs eagerly
        if traced and frame.grad is not False and any(_may_need_gradient(value) for value in args):
            _backward(frame, node, receiver.args)
    frame.interp.emitter.call(frame, node, f"{receiver.name}.{name}", args, keywords, receiver, result)
    return result


def _may_need_gradient(value: Value) -> bool:
    """Whether it is a tensor that is computed, or a parameter: of what a compiled function is given nobody knows."""
    tensor = value.elem if isinstance(value, Seq) else value
    return isinstance(tensor, Tensor) and (bool(tensor.flags & PARAMETER) or not tensor.flags & INPUT)


def _with_gradient(result: Value) -> Value:
    """What `apply` gives has the gradient that `backward` computes."""
    if isinstance(result, Seq) and result.kind == "tuple" and result.items is not None and not result.names:
        return Seq("tuple", tuple(map(_with_gradient, result.items)))
    if not isinstance(result, Tensor) or result.dtype in ("b", "i"):
        return result
    return result.with_(flags=result.flags & ~NO_GRADIENT | NEEDS_GRAD)


def _backward(frame: Frame, node: ast.AST, owner: ClassValue) -> None:
    """Where a gradient is needed Dynamo traces `backward(ctx, *grads)` at the call of `apply`, too, and no gradient through it."""
    backward = frame.interp.classes.find_method(owner.cls, "backward")
    if backward is None or frame.interp.classes.method_kind(backward) != "static":
        return
    known = backward.node.args
    grads = max(len(known.posonlyargs) + len(known.args) - 1, 1 if known.vararg is not None else 0)
    context = Object("torch.autograd.FunctionCtx", frame.origin(node))
    grad, frame.grad = frame.grad, False
    FunctionValue(backward).call(frame, node, [context, *[Tensor(origin=frame.origin(node))] * grads], {})
    frame.grad = grad


def _generator_method(
    frame: Frame, node: ast.AST, receiver: Object, name: str, args: Args, keywords: Keywords, open_ended: bool
) -> Value | None:
    result = receiver if name == "manual_seed" else UNKNOWN
    frame.interp.emitter.call(frame, node, f"{receiver.name}.{name}", args, keywords, receiver, result)
    return result


objects.register("disabled", call=_call_disabled)
objects.register("in graph", call=_call_in_graph)
objects.register("transform", call=_call_transformed)
objects.register("custom op", "unsafe custom op", "foreign custom op", call=_call_custom_op)
objects.register("torch.no_grad", "torch.inference_mode", "torch.enable_grad", call=_call_grad_mode)
objects.register("contextlib.contextmanager", call=_call_context_manager)
objects.register("torch.autograd.Function", method=_function_method)
objects.register("torch.Generator", method=_generator_method)
