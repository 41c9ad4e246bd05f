"""Calls and attribute reads: who is called, with what, and what comes back."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from tclint import events
from tclint.interpreter.frame import Frame
from tclint.interpreter.models import builtins, torch_functions
from tclint.torch_facts import generated as facts
from tclint.values import (
    ARRAY,
    BOOL,
    INT,
    NONE,
    PARAMETER,
    PROVEN,
    SIZE,
    SPARSE,
    STR,
    UNBACKED,
    UNKNOWN,
    USED,
    ClassValue,
    Compiled,
    Const,
    Dict,
    External,
    FunctionValue,
    Instance,
    Method,
    ModuleValue,
    Object,
    Partial,
    Scalar,
    Seq,
    Super,
    Tensor,
    Union,
    Value,
    join_all,
    tensor_of,
    without_none,
)

Args = list[Value]
Keywords = dict[str, Value]

# Methods of nn.Module that give the module back.
_SELF: Final = frozenset(
    "to eval train cuda cpu half float double bfloat16 type requires_grad_ apply share_memory to_empty xpu".split()
)
_MODULE_METHODS: Final = _SELF | frozenset(
    "parameters named_parameters buffers named_buffers modules named_modules children named_children state_dict "
    "load_state_dict register_buffer register_parameter add_module register_module zero_grad compile "
    "register_forward_hook register_forward_pre_hook register_full_backward_hook get_submodule get_parameter "
    "get_buffer extra_repr".split()
)
_CONTAINERS: Final = frozenset({"torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ParameterList"})
_DISABLE: Final = frozenset({"torch.compiler.disable", "torch._dynamo.disable", "torch._dynamo.disallow_in_graph"})
_CHECKPOINT: Final = frozenset({"torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential"})
_TRANSFORMS: Final = frozenset(
    f"{prefix}.{name}"
    for prefix in ("torch", "torch.func")
    for name in ("vmap", "grad", "grad_and_value", "jacrev", "jacfwd", "hessian")
)
_TRANSPARENT: Final = frozenset(
    {"tclint.identity", "torch.jit.ignore", "torch.jit.unused", "torch.jit.export", "torch.compiler.allow_in_graph"}
    | {"torch._dynamo.allow_in_graph", "torch.jit.script", "torch.fx.wrap", "torch.jit.script_if_tracing"}
    | {"torch.compiler.assume_constant_result", "torch.autograd.Variable", "functools.update_wrapper"}
)


def attribute(frame: Frame, node: ast.AST, receiver: Value, name: str, quiet: bool = False) -> Value:
    """The value of `receiver.name`."""
    kind = type(receiver)
    if kind is Instance:
        return frame.interp.instance_attribute(frame, node, receiver, name)  # type: ignore[arg-type]
    if kind is Tensor:
        assert isinstance(receiver, Tensor)
        if not quiet:
            frame.interp.emit(events.Attribute, frame, node, receiver, name)
        if name in facts.METHODS and name not in facts.ATTRIBUTES:
            return Method(receiver, name)
        return torch_functions.attribute(frame, node, receiver, name)
    if kind is External:
        return frame.interp.external_attribute(receiver, name)  # type: ignore[arg-type]
    if kind is ModuleValue:
        return frame.interp.module_attribute(receiver.module, name)  # type: ignore[attr-defined]
    if kind is Object:
        return _object_attribute(frame, node, receiver, name, quiet)  # type: ignore[arg-type]
    if kind is ClassValue:
        return frame.interp.class_attribute(frame, node, receiver.cls, name)  # type: ignore[attr-defined]
    if kind is Union:
        options = without_none(receiver).options
        return join_all(attribute(frame, node, o, name, quiet) for o in options)
    if kind is Compiled:
        assert isinstance(receiver, Compiled)
        if name == "_orig_mod":
            return receiver.target
        return attribute(frame, node, receiver.target, name, quiet)
    if kind is Super:
        return frame.interp.super_attribute(frame, receiver, name)  # type: ignore[arg-type]
    if kind is Seq:
        assert isinstance(receiver, Seq)
        if receiver.items is not None and len(receiver.items) == 2 and name in ("values", "indices"):
            return receiver.items[0 if name == "values" else 1]
        return Method(receiver, name)
    if kind in (Dict, Const, Scalar):
        return Method(receiver, name)
    if kind is FunctionValue:
        return STR if name in ("__name__", "__qualname__", "__doc__") else UNKNOWN
    if isinstance(receiver, Partial) and name == "func":
        return receiver.func
    if name == "shape":
        return Seq("size", None, SIZE)
    return UNKNOWN


def _object_attribute(frame: Frame, node: ast.AST, receiver: Object, name: str, quiet: bool) -> Value:
    if not quiet:
        frame.interp.emit(events.Attribute, frame, node, receiver, name)
    if receiver.name.startswith("torch.nn."):
        if name in ("weight", "bias", "in_proj_weight", "running_mean", "running_var", "in_proj_bias"):
            return Tensor(PROVEN, "f", -1, PARAMETER, frame.origin(node))
        if name == "training":
            return BOOL
        if name in _MODULE_METHODS or receiver.args is not None or name == "forward":
            return Method(receiver, name)
        if name.endswith(("_features", "_channels", "_size", "_heads", "_dim")):
            return INT
        return Method(receiver, name) if name in ("append", "extend", "insert", "items", "values", "keys") else UNKNOWN
    if receiver.name == "functools.partial" and receiver.args is not None:
        return UNKNOWN
    return Method(receiver, name)


def call_node(frame: Frame, node: ast.Call) -> Value:
    """Evaluate a call expression."""
    evaluate = expressions.evaluate
    func_node = node.func
    if type(func_node) is ast.Attribute:
        base = func_node.value
        if type(base) is ast.Name and base.id in frame.paths:
            override = frame.env.get(f"{base.id}.{func_node.attr}")
            if override is not None:
                args, keywords, open_ended = arguments(frame, node)
                return call(frame, node, override, args, keywords, open_ended)
        if frame.region is None and frame.interp.configured is not None:
            named = frame.interp.configured_callable(frame, func_node)
            if named is not None:
                args, keywords, open_ended = arguments(frame, node)
                return call(frame, node, named, args, keywords, open_ended)
        if type(base) is ast.Call and type(base.func) is ast.Name and base.func.id == "super":
            receiver = _super(frame, base)
        else:
            receiver = evaluate(frame, base)
        args, keywords, open_ended = arguments(frame, node)
        return method_call(frame, node, receiver, func_node.attr, args, keywords, open_ended)
    func = evaluate(frame, func_node)
    if type(func) is External and func.name == "builtins.super":
        return _super(frame, node)
    args, keywords, open_ended = arguments(frame, node)
    return call(frame, node, func, args, keywords, open_ended)


def _super(frame: Frame, node: ast.Call) -> Value:
    owner: Frame | None = frame
    cls = frame.cls
    if len(node.args) >= 1 and isinstance(node.args[0], ast.Name):
        named = frame.interp.class_of(frame.interp.module_value(frame.module, node.args[0].id))
        cls = named or cls
    function = frame.function
    if cls is None or function is None:
        return UNKNOWN
    del owner
    parameters = function.node.args
    first = (*parameters.posonlyargs, *parameters.args)
    name = first[0].arg if first else "self"
    instance = frame.env.get(name) or (frame.closure or {}).get("self", UNKNOWN)
    return Super(instance, cls)


def arguments(frame: Frame, node: ast.Call) -> tuple[Args, Keywords, bool]:
    """The argument values; the last is True where `*args` or `**kwargs` may hold more than is known."""
    evaluate = expressions.evaluate
    args: Args = []
    keywords: Keywords = {}
    open_ended = False
    for argument in node.args:
        if type(argument) is ast.Starred:
            value = evaluate(frame, argument.value)
            if isinstance(value, Seq) and value.items is not None:
                args.extend(value.items)
            else:
                open_ended = True
                args.append(Seq("star", None, expressions.element_of(frame, value, argument)))
        else:
            args.append(evaluate(frame, argument))
    for keyword in node.keywords:
        value = evaluate(frame, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Dict):
            for k, v in value.items.items():
                if isinstance(k, str):
                    keywords[k] = v
            if value.elem is not None:
                open_ended = True
        else:
            open_ended = True
    return args, keywords, open_ended


def call(
    frame: Frame,
    node: ast.AST,
    func: Value,
    args: Sequence[Value],
    keywords: Mapping[str, Value],
    open_ended: bool = False,
) -> Value:
    """The value of a call of `func`."""
    kind = type(func)
    if kind is FunctionValue:
        return frame.interp.call_function(frame, node, func, args, keywords, open_ended)  # type: ignore[arg-type]
    if kind is External:
        return external(frame, node, func.name, list(args), dict(keywords), open_ended)  # type: ignore[attr-defined]
    if kind is ClassValue:
        return frame.interp.construct(frame, node, func.cls, args, keywords, open_ended)  # type: ignore[attr-defined]
    if kind is Instance:
        return frame.interp.call_instance(frame, node, func, args, keywords, open_ended)  # type: ignore[arg-type]
    if kind is Method:
        assert isinstance(func, Method)
        return method_call(frame, node, func.receiver, func.name, list(args), dict(keywords), open_ended)
    if kind is Object:
        return _object_call(frame, node, func, list(args), dict(keywords), open_ended)  # type: ignore[arg-type]
    if kind is Partial:
        assert isinstance(func, Partial)
        return call(frame, node, func.func, [*func.args, *args], {**func.keywords, **keywords}, open_ended)
    if kind is Compiled:
        return frame.interp.call_compiled(frame, node, func, args, keywords, open_ended)  # type: ignore[arg-type]
    if kind is Union:
        callables = [o for o in func.options if not isinstance(o, Const)]
        return join_all(call(frame, node, o, args, keywords, open_ended) for o in callables)
    frame.interp.emit_call(frame, node, "?", args, keywords, None, UNKNOWN)
    return UNKNOWN


def external(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool = False) -> Value:
    """A call of something outside the program, by its dotted name."""
    interp = frame.interp
    if interp.is_compile_function(name):
        return interp.compile_call(frame, node, name, args, keywords)
    if name.startswith("builtins."):
        short = name[9:]
        result = builtins.call(frame, node, short, args, keywords)
        interp.emit_call(frame, node, name, args, keywords, None, result)
        if short == "setattr" and len(args) == 3:
            _setattr(frame, node, args)
        return result
    result = _external_result(frame, node, name, args, keywords, open_ended)
    if name.endswith(_MARKS) and frame.region is None:
        _mark(frame, node, name, args)
    interp.emit_call(frame, node, name, args, keywords, None, result)
    return result


def _checkpointed(frame: Frame, node: ast.AST, name: str, args: Args, open_ended: bool) -> Value:
    """The function runs as usual, but is a graph of its own.

    That is told where the checkpoint is there for certain: not under a flag, which is off as a rule, and not in a helper,
    which is called under one.
    """
    region = frame.region
    entered = frame.parent is None or (frame.function is not None and frame.function.name == "forward")
    if region is None or frame.maybe or not entered:
        return call(frame, node, args[0], args[1:], {}, open_ended)
    frame.region = replace(region, inside=name, entry=node)
    try:
        return call(frame, node, args[0], args[1:], {}, open_ended)
    finally:
        frame.region = region


def _external_result(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    if name in _TRANSPARENT:
        return args[0] if args else External("tclint.identity")
    if name in _DISABLE:
        return Object(name, frame.origin(node), "disabled", args[0]) if args else External(name)
    if name in _CHECKPOINT and args:
        return _checkpointed(frame, node, name, args, open_ended)
    if name in _TRANSFORMS and args:
        return Object(name, frame.origin(node), "transform", args[0])
    if name in ("torch.jit.trace", "torch.jit.load", "torch.jit.trace_module", "torch.jit.freeze"):
        return Object("torch.jit.ScriptModule", frame.origin(node))
    if name in ("torch.cond", "torch.func.functional_call"):
        return UNKNOWN
    if name.startswith("torch."):
        if name.startswith("torch.nn.") and _is_module_class(name):
            return _construct_module(frame, node, name, args, keywords)
        if name in ("torch.cuda.CUDAGraph", "torch.Generator"):
            return Object(name, frame.origin(node))
        if name == "torch.cuda.make_graphed_callables" and args:
            return Object("torch.cuda.make_graphed_callables", frame.origin(node), "graphed", args[0])
        return torch_functions.function(frame, node, name, args, keywords)
    if name.startswith("numpy."):
        return torch_functions.numpy_function(frame, node, name, args, keywords)
    known = builtins.stdlib(frame, node, name, args, keywords)
    if known is not UNKNOWN:
        return known
    short = name.rpartition(".")[2]
    owner = name.rpartition(".")[0].rpartition(".")[2]
    endings = ("Tokenizer", "TokenizerFast", "TokenizerBase")
    if short.endswith(endings) or (owner.endswith(endings) and short == "from_pretrained"):
        return Object("tokenizer", frame.origin(node))
    if short in ("get_tokenizer", "load_tokenizer", "build_tokenizer", "make_tokenizer"):
        return Object("tokenizer", frame.origin(node))
    if short[:1].isupper() and "." in name:
        # An instance of a class outside the program.
        return Object(name, frame.origin(node))
    if name.startswith(("threading.", "queue.", "random.", "array.", "decimal.", "contextvars.", "datetime.")):
        return Object(name, frame.origin(node))
    return UNKNOWN


_MARKS: Final = (".mark_dynamic", ".maybe_mark_dynamic", ".mark_unbacked")


def _mark(frame: Frame, node: ast.AST, name: str, args: Args) -> None:
    """`mark_dynamic(x, 0)`: the tensor a name holds carries the mark from here on."""
    if not (isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name) and len(args) >= 2):
        return
    tensor = args[0]
    dims = args[1].items if isinstance(args[1], Seq) and args[1].items is not None else (args[1],)
    marked = {d.value for d in dims if isinstance(d, Const) and isinstance(d.value, int)}
    if name.endswith("mark_unbacked"):
        marked |= {UNBACKED + d for d in marked}
    if isinstance(tensor, Tensor):
        updated = tensor.with_(marks=tensor.marks | marked)
        for name, value in list(frame.env.items()):
            if value is tensor:
                frame.env[name] = updated  # one tensor under several names


def _is_module_class(name: str) -> bool:
    if name in facts.MODULES:
        return True
    short = name.rpartition(".")[2]
    return short[:1].isupper() and short not in ("Parameter", "Buffer") and not name.startswith("torch.nn.functional")


def _construct_module(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords) -> Value:
    short = "torch.nn." + name.rpartition(".")[2]
    origin = frame.origin(node)
    if short == "torch.nn.Sequential":
        if len(args) == 1 and isinstance(args[0], Dict):
            args = list(args[0].items.values()) or [args[0].element()]
        if any(isinstance(a, Seq) and a.kind == "star" for a in args):
            inner: Value = Seq("list", None, join_all(a.elem if isinstance(a, Seq) else a for a in args))
        else:
            inner = Seq("list", tuple(args))
        return Object(short, origin, "", inner)
    if short in ("torch.nn.ModuleList", "torch.nn.ParameterList"):
        from tclint.interpreter.expressions import element_of

        if not args:
            return Object(short, origin, "", Seq("list", ()))
        source = args[0]
        items = source.items if isinstance(source, Seq) else None
        element = source.elem if isinstance(source, Seq) else element_of(frame, source, node)
        return Object(short, origin, "", Seq("list", items, element))
    if short in ("torch.nn.ModuleDict", "torch.nn.ParameterDict"):
        source = args[0] if args else Dict({})
        return Object(short, origin, "", source if isinstance(source, Dict) else Dict({}, UNKNOWN))
    if short == "torch.nn.DataParallel" and args:
        return args[0]
    return Object(short if short in facts.MODULES else name, origin, "module")


def _setattr(frame: Frame, node: ast.AST, args: Args) -> None:
    receiver, name, value = args
    text = name.value if isinstance(name, Const) and isinstance(name.value, str) else ""
    frame.interp.emit(events.Store, frame, node, "attribute", receiver, text, value, None, False, None)
    if isinstance(receiver, Instance):
        frame.interp.note_attribute(frame, receiver, text or "*", value)


def _object_call(frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    interp = frame.interp
    result: Value
    if func.kind == "disabled":
        result = UNKNOWN
        interp.emit_call(frame, node, "disabled", args, keywords, func, result)
        if func.args is not None and frame.region is None:
            return call(frame, node, func.args, args, keywords, open_ended)
        return result
    if func.name in ("torch.no_grad", "torch.inference_mode", "torch.enable_grad") and args:
        return args[0]  # used as a decorator
    if func.kind == "transform" and func.args is not None:
        # vmap and friends call the function on tensors of one dimension less.
        inside = [a.view(a.origin) if isinstance(a, Tensor) else a for a in args]
        inner = call(frame, node, func.args, inside, keywords, open_ended)
        tensor = tensor_of(inner)
        return Tensor(tensor.conf, tensor.dtype, -1, 0, frame.origin(node)) if tensor is not None else UNKNOWN
    if func.kind == "graphed" and func.args is not None:
        inner = call(frame, node, func.args, args, keywords, open_ended)
        interp.emit_call(frame, node, func.name + ".__call__", args, keywords, func, inner)
        return interp.own(inner, frame, node)
    if func.name == "torch.nn.Sequential" and isinstance(func.args, Seq):
        return _sequential(frame, node, func, args, keywords)
    if func.name.startswith("torch.nn."):
        if func.name in _CONTAINERS or func.name in ("torch.nn.Module", "torch.nn.ModuleDict"):
            return UNKNOWN
        result = torch_functions.module_call(frame, node, func.name, args, keywords, func)
        interp.emit_call(frame, node, func.name + ".forward", args, keywords, func, result)
        return result
    if func.name == "contextlib.contextmanager":
        interp.emit_call(frame, node, "contextlib.contextmanager.__call__", args, keywords, func, UNKNOWN)
        return Object("contextlib.context", frame.origin(node), "", func.args)
    interp.emit_call(frame, node, func.name + ".__call__", args, keywords, func, UNKNOWN)
    return UNKNOWN


def _sequential(frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords) -> Value:
    assert isinstance(func.args, Seq)
    if func.args.items is None:
        value = call(frame, node, func.args.elem, args, {})
        return value if value is not UNKNOWN else UNKNOWN
    current: list[Value] = list(args)
    for item in func.args.items:
        current = [call(frame, node, item, current, {})]
    return current[0] if current else UNKNOWN


def method_call(
    frame: Frame,
    node: ast.AST,
    receiver: Value,
    name: str,
    args: Args,
    keywords: Keywords,
    open_ended: bool = False,
) -> Value:
    """The value of `receiver.name(*args, **keywords)`."""
    kind = type(receiver)
    interp = frame.interp
    if kind is Tensor:
        assert isinstance(receiver, Tensor)
        result = torch_functions.method(frame, node, receiver, name, args, keywords)
        prefix = "ndarray." if receiver.flags & ARRAY else "Tensor."
        interp.emit_call(frame, node, prefix + name, args, keywords, receiver, result)
        return result
    if kind is Instance:
        assert isinstance(receiver, Instance)
        found = interp.instance_attribute(frame, node, receiver, name)
        if isinstance(found, Method) and found.receiver is receiver:
            return _module_method(frame, node, receiver, name, args, keywords)
        return call(frame, node, found, args, keywords, open_ended)
    if kind is External:
        target = interp.external_attribute(receiver, name)  # type: ignore[arg-type]
        return call(frame, node, target, args, keywords, open_ended)
    if kind is Object:
        return _object_method(frame, node, receiver, name, args, keywords, open_ended)  # type: ignore[arg-type]
    if kind is Seq:
        assert isinstance(receiver, Seq)
        result, changed = builtins.sequence_method(frame, node, receiver, name, args)
        interp.emit_call(frame, node, f"list.{name}", args, keywords, receiver, result)
        if changed is not None:
            _rebind(frame, node, changed)
        return result
    if kind is Dict:
        assert isinstance(receiver, Dict)
        result, changed = builtins.dict_method(frame, node, receiver, name, args, keywords)
        interp.emit_call(frame, node, f"dict.{name}", args, keywords, receiver, result)
        if changed is not None:
            _rebind(frame, node, changed)
        return result
    if kind is Union:
        options = without_none(receiver).options
        results = [method_call(frame, node, o, name, args, keywords, open_ended) for o in options]
        return join_all(results)
    if kind is Compiled:
        assert isinstance(receiver, Compiled)
        if name in _SELF:
            return receiver
        if name in ("forward", "__call__"):
            return interp.call_compiled(frame, node, receiver, args, keywords, open_ended)
        interp.emit_call(frame, node, f"compiled.{name}", args, keywords, receiver, UNKNOWN)
        return method_call(frame, node, receiver.target, name, args, keywords, open_ended)
    if kind in (ModuleValue, ClassValue, Super, FunctionValue):
        found = attribute(frame, node, receiver, name)
        if found is UNKNOWN and kind is Super:
            return _inherited(frame, node, receiver, name, args, keywords)  # type: ignore[arg-type]
        return call(frame, node, found, args, keywords, open_ended)
    if kind in (Const, Scalar):
        return _scalar_method(frame, node, receiver, name, args, keywords)
    if name in facts.TENSOR_ONLY_METHODS and kind is not Method:
        tensor = Tensor(USED, "", -1, 0, frame.origin(node))
        result = torch_functions.method(frame, node, tensor, name, args, keywords)
        interp.emit_call(frame, node, "Tensor." + name, args, keywords, tensor, result)
        return result
    result = Scalar("number", "data", frame.origin(node)) if name == "item" else UNKNOWN
    interp.emit_call(frame, node, "?." + name, args, keywords, receiver, result)
    return result


def _inherited(frame: Frame, node: ast.AST, receiver: Super, name: str, args: Args, keywords: Keywords) -> Value:
    """`super().name(…)` where the next class is outside the program."""
    if isinstance(receiver.instance, Instance):
        base = frame.interp.external_base(receiver.instance.cls)
        if name in _MODULE_METHODS:
            return _module_method(frame, node, receiver.instance, name, args, keywords)
        if base.startswith("torch.nn.") and name == "forward":
            return torch_functions.module_call(frame, node, base, args, keywords, Object(base))
        frame.interp.emit_call(frame, node, f"super.{name}", args, keywords, receiver, UNKNOWN)
    return UNKNOWN


def _rebind(frame: Frame, node: ast.AST, changed: Value) -> None:
    """Put the changed container back where it was read from."""
    from tclint.interpreter.expressions import path_of

    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        place = path_of(node.func.value)
        if place is None:
            return
        if "." in place:
            frame.set_path(place, changed)
        elif place in frame.env:
            frame.set(place, changed)


def _scalar_method(frame: Frame, node: ast.AST, receiver: Value, name: str, args: Args, keywords: Keywords) -> Value:
    text = isinstance(receiver, Const) and isinstance(receiver.value, str)
    text = text or (isinstance(receiver, Scalar) and receiver.type == "str")
    prefix = "str." if text else "number."
    result: Value = UNKNOWN
    if text:
        if name in ("startswith", "endswith", "isdigit", "isalpha", "islower", "isupper"):
            result = _str_test(receiver, name, args)
        elif name in ("split", "rsplit", "splitlines", "partition"):
            result = Seq("list", None, STR)
        elif name in ("find", "index", "count"):
            result = INT
        else:
            result = STR
            for value in (*args, *keywords.values()):
                if tensor_of(value) is not None and name == "format":
                    result = Scalar("str", "tensor", frame.origin(node))
    elif name == "item":
        result = receiver
    frame.interp.emit_call(frame, node, prefix + name, args, keywords, receiver, result)
    return result


def _str_test(receiver: Value, name: str, args: Args) -> Value:
    if isinstance(receiver, Const) and args and isinstance(args[0], Const) and name in ("startswith", "endswith"):
        wanted = args[0].value
        if isinstance(wanted, str):
            found = receiver.value.startswith(wanted) if name == "startswith" else receiver.value.endswith(wanted)
            return Const(found)
    return BOOL


def _module_method(frame: Frame, node: ast.AST, receiver: Instance, name: str, args: Args, keywords: Keywords) -> Value:
    """A method that every nn.Module has."""
    interp = frame.interp
    if name == "compile":
        return _compile_in_place(frame, node, receiver, args, keywords)
    result: Value = UNKNOWN
    if name in _SELF:
        result = receiver
    elif name in ("parameters", "buffers"):
        result = Seq("list", None, Tensor(PROVEN, "", -1, PARAMETER, frame.origin(node)))
    elif name in ("named_parameters", "named_buffers"):
        result = Seq("list", None, Seq("tuple", (STR, Tensor(PROVEN, "", -1, PARAMETER, frame.origin(node)))))
    elif name in ("register_buffer", "register_parameter", "add_module", "register_module") and len(args) >= 2:
        target = args[0]
        value = args[1]
        if name == "register_buffer":
            tensor = tensor_of(value)
            if tensor is not None:
                value = tensor.with_(flags=PARAMETER | (tensor.flags & SPARSE), conf=PROVEN)
            elif value is UNKNOWN:
                value = Tensor(PROVEN, "", -1, PARAMETER, frame.origin(node))
        if isinstance(target, Const) and isinstance(target.value, str):
            interp.note_attribute(frame, receiver, target.value, value)
        else:
            interp.note_attribute(frame, receiver, "*", value)
        result = NONE
    elif name == "register_buffer" and args and isinstance(args[0], Const):
        value = keywords.get("tensor", UNKNOWN)
        tensor = tensor_of(value) or Tensor(PROVEN)
        interp.note_attribute(frame, receiver, str(args[0].value), tensor.with_(flags=PARAMETER))
        result = NONE
    interp.emit_call(frame, node, f"torch.nn.Module.{name}", args, keywords, receiver, result)
    return result


def _compile_in_place(frame: Frame, node: ast.AST, receiver: Value, args: Args, keywords: Keywords) -> Value:
    """`module.compile(…)`: the module itself is compiled from here on."""
    from tclint.interpreter.expressions import path_of

    compiled = frame.interp.compile_call(frame, node, "torch.nn.Module.compile", [receiver, *args], keywords)
    for option in receiver.options:
        if isinstance(option, Instance) and isinstance(compiled, Compiled):
            frame.interp.compiled_instances[option.key] = compiled.site
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        place = path_of(node.func.value)
        if place is not None:
            if "." in place:
                frame.set_path(place, compiled)
                owner = frame.env.get(place.partition(".")[0])
                if isinstance(owner, Instance):
                    frame.interp.note_attribute(frame, owner, place.partition(".")[2], compiled)
            else:
                frame.set(place, compiled)
    return NONE


def _object_method(
    frame: Frame, node: ast.AST, receiver: Object, name: str, args: Args, keywords: Keywords, open_ended: bool
) -> Value:
    interp = frame.interp
    full = f"{receiver.name}.{name}"
    if receiver.name.startswith("torch.nn."):
        if name == "compile":
            return _compile_in_place(frame, node, receiver, args, keywords)
        if name in _SELF:
            interp.emit_call(frame, node, full, args, keywords, receiver, receiver)
            return receiver
        if name in ("forward", "__call__"):
            return _object_call(frame, node, receiver, args, keywords, open_ended)
        if isinstance(receiver.args, Seq):
            result, changed = builtins.sequence_method(frame, node, receiver.args, name, args)
            if changed is not None:
                _rebind(frame, node, Object(receiver.name, receiver.origin, receiver.kind, changed))
                _note_container(frame, node, receiver, changed)
            interp.emit_call(frame, node, full, args, keywords, receiver, result)
            return result
        if isinstance(receiver.args, Dict):
            result, changed = builtins.dict_method(frame, node, receiver.args, name, args, keywords)
            if changed is not None:
                _rebind(frame, node, Object(receiver.name, receiver.origin, receiver.kind, changed))
            return result
    if name in ("register_full_backward_hook", "register_backward_hook", "register_full_backward_pre_hook"):
        hooked = Object(receiver.name, receiver.origin, "backward-hook", receiver.args)
        _rebind(frame, node, hooked)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            base = node.func.value
            if isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name):
                owner = frame.env.get(base.value.id)
                if isinstance(owner, Instance):
                    interp.note_attribute(frame, owner, base.attr, hooked, replace=True)
    result = UNKNOWN
    if receiver.name == "torch.autograd.Function" and isinstance(receiver.args, ClassValue):
        result = _apply_function(frame, node, receiver.args, args)
    if receiver.name.startswith("random.Random"):
        result = Scalar("float", "data", frame.origin(node))
    elif receiver.name == "torch.Generator":
        result = receiver if name == "manual_seed" else UNKNOWN
    interp.emit_call(frame, node, full, args, keywords, receiver, result)
    return result


def _apply_function(frame: Frame, node: ast.AST, owner: ClassValue, args: Args) -> Value:
    """`Function.apply(x)` runs `forward(ctx, x)`."""
    forward = frame.interp.find_method(owner.cls, "forward")
    if forward is None:
        return UNKNOWN
    context: Args = []
    if frame.interp.find_method(owner.cls, "setup_context") is None:
        context.append(Object("torch.autograd.FunctionCtx", frame.origin(node)))
    return call(frame, node, FunctionValue(forward), [*context, *args], {})


def _note_container(frame: Frame, node: ast.AST, receiver: Object, changed: Value) -> None:
    """`self.layers.append(Block())` in a constructor fills the attribute; elsewhere it changes a module in use."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        base = node.func.value
        if isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name):
            from tclint.interpreter.expressions import lookup

            owner = lookup(frame, base.value.id)
            if isinstance(owner, Compiled):
                owner = owner.target
            if isinstance(owner, Instance) and not frame.constructing:
                if frame.region is None:
                    frame.interp.rebound.add((owner.cls.module.path, owner.cls.qualname, base.attr))
            elif isinstance(owner, Instance):
                updated = Object(receiver.name, receiver.origin, receiver.kind, changed)
                frame.interp.note_attribute(frame, owner, base.attr, updated, replace=True)


def operator_method(frame: Frame, node: ast.AST, operator: str, left: Value, right: Value) -> Value:
    """`left op right` where one of them is an object: its dunder method, if the program defines it."""
    names = {"Add": "__add__", "Sub": "__sub__", "Mult": "__mul__", "Div": "__truediv__", "MatMult": "__matmul__"}
    if isinstance(left, Instance) and operator in names:
        found = frame.interp.instance_attribute(frame, node, left, names[operator])
        if isinstance(found, FunctionValue):
            return call(frame, node, found, [right], {})
    return UNKNOWN


def object_item(frame: Frame, node: ast.AST, receiver: Object, index: Value) -> Value:
    return UNKNOWN


# Expressions and calls need each other; an import inside each call would cost more than the call.
from tclint.interpreter import expressions  # noqa: E402
