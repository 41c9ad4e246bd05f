"""Modules of torch.nn: building, calling and reading them, and what a class of the program inherits from them."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter.bindings import owner_of
from tclint.interpreter.constructors import OF_METRICS, REGISTERS
from tclint.interpreter.evaluate import lookup
from tclint.interpreter.frame import TRAINS, Frame
from tclint.interpreter.models import hooks, objects, several_devices
from tclint.interpreter.models.functions import Args, Keywords
from tclint.interpreter.models.laid_out import plain
from tclint.interpreter.models.measured import joined, value_of
from tclint.interpreter.models.results import first_tensor
from tclint.interpreter.training_flag import parts_follow
from tclint.program import Module
from tclint.torch_facts import calls, facts, returns, sizes, traits
from tclint.values import (
    ARRAY,
    BOOL,
    GRADIENT_UNKNOWN,
    INT,
    NEEDS_GRAD,
    NO_GRADIENT,
    NONE,
    PARAMETER,
    PROVEN,
    SPARSE,
    STR,
    UNKNOWN,
    ClassValue,
    Compiled,
    Const,
    Dict,
    Instance,
    Method,
    Object,
    Seq,
    Super,
    Tensor,
    Value,
    join,
    join_all,
    tensor_of,
)
from tclint.values.moments import GROWS
from tclint.values.object import is_some_module
from tclint.values.place import path_of, rebind
from tclint.values.value import ONE_OF

_SELF: Final = frozenset(facts.named("gives its module back"))
MODULE_METHODS: Final = _SELF | frozenset(facts.named("is a method of every module")) | OF_METRICS
_SEQUENTIAL: Final = "torch.nn.Sequential"
_WALKS: Final = facts.named("walks the modules in a module")


def is_module_class(name: str) -> bool:
    """Whether a dotted name of torch.nn is that of a module class."""
    if returns.is_module_class(name):
        return True
    short = name.rpartition(".")[2]
    return short[:1].isupper() and short not in ("Parameter", "Buffer") and not name.startswith("torch.nn.functional")


def _public(name: str) -> str:
    """`torch.nn.modules.linear.Linear` by the name that programs use: `torch.nn.Linear`."""
    return "torch.nn." + name.rpartition(".")[2] if name.startswith("torch.nn.") else name


def construct(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords) -> Value:
    """`torch.nn.Linear(…)`: the module; a container holds what it was given."""
    short = _public(name)
    origin = frame.origin(node)
    if not args and "modules" in keywords:  # `nn.ModuleList(modules=[…])`
        args = [keywords["modules"]]
    if short == _SEQUENTIAL:
        if len(args) == 1 and isinstance(args[0], Dict):
            args = list(args[0].items.values()) or [args[0].element()]
        if any(isinstance(a, Seq) and a.kind == "star" for a in args):
            inner: Value = Seq("list", None, join_all(a.elem if isinstance(a, Seq) else a for a in args))
        else:
            inner = Seq("list", tuple(args))
        return Object(short, origin, "", inner)
    if short in ("torch.nn.ModuleList", "torch.nn.ParameterList"):
        if not args:
            return Object(short, origin, "", Seq("list", ()))
        source = args[0]
        items = source.items if isinstance(source, Seq) else None
        element = source.elem if isinstance(source, Seq) else source.iterate(frame, node)
        return Object(short, origin, "", Seq("list", items, element))
    if short in ("torch.nn.ModuleDict", "torch.nn.ParameterDict"):
        source = args[0] if args else Dict({})
        return Object(short, origin, "", source if isinstance(source, Dict) else Dict({}, UNKNOWN))
    if short == "torch.nn.DataParallel" and args:
        return args[0]
    if name in several_devices.NAMES:
        return several_devices.made(frame, node, name, args, keywords)
    made = None
    if frame.region is None and not any(isinstance(a, Seq) and a.kind == "star" for a in args):
        made = sizes.made(short, [plain(value) for value in args], {k: plain(v) for k, v in keywords.items()})
    return Object(short if returns.is_module_class(short) else name, origin, "module", None, made)


def gives_itself(name: str) -> bool:
    """Whether a method of a module returns the module."""
    return name in _SELF


def method_of_wrapper(frame: Frame, node: ast.AST, name: str) -> Value | None:
    """A hook of the wrapper that `torch.compile(module)` makes runs around the graph, and none of the module."""
    return Object(hooks.HANDLE, frame.origin(node)) if hooks.registers(name) else None


def _attribute(frame: Frame, node: ast.AST, receiver: Object, name: str) -> Value:
    if name in facts.named("is a parameter or buffer of torch's modules"):
        told = sizes.held(receiver.name, receiver.made) if frame.region is None and receiver.made is not None else {}
        return Tensor(PROVEN, "f", -1, PARAMETER, frame.origin(node), shape=told.get(name))
    if frame.region is None and receiver.made is not None and type(receiver.made.get(name)) is int:
        return Const(receiver.made[name])
    if isinstance(receiver.args, Dict) and name in receiver.args.items:
        return receiver.args.items[name]  # `self.transformer.h`: the modules of a ModuleDict are its attributes
    if name == "training":
        return BOOL
    if name == "__dict__":
        frame.interp.emitter.feature(frame, node, "__dict__ of a module of torch")
    if name in MODULE_METHODS or receiver.args is not None or name == "forward":
        return Method(receiver, name)
    if name.endswith(("_features", "_channels", "_size", "_heads", "_dim")):
        return INT
    return Method(receiver, name) if name in facts.named("is a method of module containers") else UNKNOWN


def _call(frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords, open_ended: bool) -> Value:
    args, keywords = hooks.before(frame, node, func, args, keywords)
    return hooks.after(frame, node, func, args, keywords, _forward(frame, node, func, args, keywords))


def _forward(frame: Frame, node: ast.AST, func: Object, args: Args, keywords: Keywords) -> Value:
    """The forward of a module alone, as `module.forward(x)` runs it."""
    if frame.region is None:
        frame.interp.recordings.run(frame, owner_of(func), node)
    if func.name == _SEQUENTIAL and isinstance(func.args, Seq):
        result = _sequential(frame, node, func.args, args)
    elif func.name == _SEQUENTIAL:
        result = UNKNOWN  # of modules that nobody knows
    else:
        result = module_call(frame, node, func.name, args, keywords)
        if frame.region is None and isinstance(result, Tensor) and func.made is not None and len(args) == 1:
            result = _sized(frame, func, args[0], result)
        frame.interp.emitter.call(frame, node, func.name + ".forward", args, keywords, func, result)
    return result


def _sized(frame: Frame, func: Object, given: Value, result: Tensor) -> Tensor:
    """What a module of torch gives in eager code, with the sizes that follow from those of what it gets."""
    assert func.made is not None
    if not isinstance(given, Tensor) or not isinstance(given.shape, tuple) or given.flags & ARRAY:
        return result
    shape = sizes.given_by(func.name, func.made, given.shape)
    if shape is None:
        return result
    exact = given.exact if given.dtype == "f" else ""
    flags = result.flags | (_gradient(frame, func, given) if frame.grad is not False else 0)
    return result.with_(shape=shape, strides=given.strides, exact=exact, flags=flags)


def _gradient(frame: Frame, func: Object, given: Tensor) -> int:
    """Whether what a module gives requires a gradient. Parameters do, as long as nothing in the program freezes any."""
    if not sizes.has_parameters(func.name):
        return given.flags & (NEEDS_GRAD | GRADIENT_UNKNOWN)
    return NEEDS_GRAD if frame.grad and not frame.module.program.answers(_freezes) else GRADIENT_UNKNOWN


def _freezes(module: Module) -> bool:
    """Whether a file says anything of what requires a gradient."""
    return b"requires_grad" in module.data


def _sequential(frame: Frame, node: ast.AST, modules: Seq, args: Args) -> Value:
    """One module after the other."""
    if modules.items is None:
        return modules.elem.call(frame, node, args, {})
    current = args
    for module in modules.items:
        current = [module.call(frame, node, current, {})]
    return current[0] if current else UNKNOWN


def module_call(frame: Frame, node: ast.AST, name: str, args: Args, keywords: Keywords) -> Value:
    """Calling an instance of a `torch.nn` class."""
    origin = frame.origin(node)
    key = f"{facts.canonical(name)}#__call__"
    kind = returns.kind(key)
    if kind is None or kind == "unknown":
        return UNKNOWN
    if traits.gives_argument(key):
        return args[0] if args else UNKNOWN
    first = first_tensor(args, keywords)
    made = joined([form for form in traits.forms(key) if form.result.is_tensor or kind != "tensor"])
    if kind != "tensor":
        return value_of(made, origin) if made is not None else UNKNOWN
    if first is not None and traits.is_view_function(key):
        return first.view(origin)
    return Tensor(PROVEN, "f", 0 if made is not None and made.rank == 0 else -1, 0, origin)


def _item(frame: Frame, node: ast.AST, receiver: Object, index: Value) -> Value:
    """`Sequential[a:b]` is a Sequential of its own."""
    if receiver.args is None:
        return UNKNOWN
    inner = receiver.args.item(frame, node, index)
    return receiver.with_args(inner) if isinstance(inner, Seq) else inner


def _method(
    frame: Frame, node: ast.AST, receiver: Object, name: str, args: Args, keywords: Keywords, open_ended: bool
) -> Value | None:
    if isinstance(receiver.args, Dict) and name in receiver.args.items:
        return receiver.args.items[name].call(frame, node, args, keywords, open_ended)
    if name == "compile":
        return _compile_in_place(frame, node, receiver, args, keywords)
    _apply(frame, node, name, args)
    handle = hooks.register(frame, node, receiver, name, args)
    shared = calls.key_of(f"torch.nn.Module.{name}") is not None
    full = f"torch.nn.Module.{name}" if shared else f"{receiver.name}.{name}"
    if name in _SELF:
        frame.interp.emitter.call(frame, node, full, args, keywords, receiver, receiver)
        return receiver
    if name == "forward" and receiver.kind != several_devices.KIND:
        return _forward(frame, node, receiver, args, keywords)
    if name in ("forward", "__call__"):
        return receiver.call(frame, node, args, keywords, open_ended)
    held = _tensors(frame, node, name)
    if held is None and name in ("children", "named_children") and isinstance(receiver.args, (Seq, Dict)):
        part = receiver.args.element()
        held = Seq("list", None, part if name == "children" else Seq("tuple", (STR, part)))
    if held is None and is_some_module(receiver):
        held = walked(frame, node, name)
    if held is not None:
        held = _by_name(frame, node, receiver, name, args, keywords) or held
        frame.interp.emitter.call(frame, node, full, args, keywords, receiver, held)
        return held
    elements = receiver.args
    given = [*args, *keywords.values()] if name in REGISTERS else ()
    if isinstance(elements, Dict) and len(given) == 2:
        rebind(frame, node, receiver.with_args(elements.with_item(given[0], given[1])))
    elif isinstance(elements, Seq) and handle is UNKNOWN:
        # `net.add_module(name, Block())` puts it behind the others.
        result, changed = elements.method(frame, node, *(("append", given[1:]) if len(given) == 2 else (name, args)))
        if changed is not None:
            rebind(frame, node, receiver.with_args(changed))
            _note_container(frame, node, receiver, changed)
        frame.interp.emitter.call(frame, node, full, args, keywords, receiver, result)
        return result
    if isinstance(elements, Dict) and handle is UNKNOWN:
        result, changed = elements.method(name, args, keywords)
        if changed is not None:
            rebind(frame, node, receiver.with_args(changed))
        return result
    if handle is not UNKNOWN and name in facts.named("registers a backward hook"):
        _note_backward_hook(frame, node, receiver)
    if shared or handle is not UNKNOWN:
        frame.interp.emitter.call(frame, node, full, args, keywords, receiver, handle)
        return handle
    return None


def _apply(frame: Frame, node: ast.AST, name: str, args: Args) -> None:
    """`net.apply(set_momentum)` calls a function with every module in one, whichever."""
    if name == "apply" and args and frame.region is None and not frame.constructing:
        args[0].call(frame, node, [UNKNOWN], {})


def _note_container(frame: Frame, node: ast.AST, receiver: Object, changed: Value) -> None:
    """`self.layers.append(Block())` in a constructor fills the attribute; elsewhere it changes a module in use."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        base = node.func.value
        if isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name):
            owner = lookup(frame, base.value.id)
            if isinstance(owner, Compiled):
                owner = owner.target
            if isinstance(owner, Instance) and not frame.constructing:
                frame.interp.account.write_attribute(frame, node, owner, base.attr, changed, GROWS)
            elif isinstance(owner, Instance):
                frame.interp.instance_attributes.store(
                    frame, owner, base.attr, receiver.with_args(changed), replace=True
                )


def _note_backward_hook(frame: Frame, node: ast.AST, receiver: Object) -> None:
    """`layer.register_full_backward_hook(…)`: the layer carries a hook from here on."""
    hooked = Object(receiver.name, receiver.origin, "backward-hook", receiver.args)
    rebind(frame, node, hooked)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        base = node.func.value
        if isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name):
            owner = frame.env.get(base.value.id)
            if isinstance(owner, Instance):
                frame.interp.instance_attributes.store(frame, owner, base.attr, hooked, replace=True)


def _compile_in_place(frame: Frame, node: ast.AST, receiver: Value, args: Args, keywords: Keywords) -> Value:
    """`module.compile(…)`: the module itself is compiled from here on."""
    compiled = frame.interp.compile_sites.compile(frame, node, "torch.nn.Module.compile", [receiver, *args], keywords)
    for option in receiver.options:
        if isinstance(option, Instance) and isinstance(compiled, Compiled):
            frame.interp.learned.compiled_instances[option.key] = compiled.site
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        place = path_of(node.func.value)
        if place is not None:
            if "." in place:
                frame.set_path(place, compiled)
                owner = frame.env.get(place.partition(".")[0])
                if isinstance(owner, Instance):
                    frame.interp.instance_attributes.store(frame, owner, place.partition(".")[2], compiled)
            else:
                frame.set(place, compiled)
    return NONE


def method_of_instance(
    frame: Frame, node: ast.AST, receiver: Instance, name: str, args: Args, keywords: Keywords
) -> Value:
    """A method that every nn.Module has, of an object of the program."""
    if name == "compile":
        return _compile_in_place(frame, node, receiver, args, keywords)
    _apply(frame, node, name, args)
    result: Value = hooks.register(frame, node, receiver, name, args)
    if name in _SELF:
        result = receiver
    elif (held := _tensors(frame, node, name)) is not None:
        result = _by_name(frame, node, receiver, name, args, keywords) or held
    elif name in ("children", "named_children"):
        held = _children(frame, receiver).element()
        result = Seq("list", None, held if name == "children" else Seq("tuple", (STR, held)))
    elif name in REGISTERS and len(args) >= 2:
        _register(frame, node, receiver, name, args[0], args[1])
        result = NONE
    elif name == "register_buffer" and args and isinstance(args[0], Const):
        tensor = tensor_of(keywords.get("tensor", UNKNOWN)) or Tensor(PROVEN)
        frame.interp.instance_attributes.store(frame, receiver, str(args[0].value), tensor.with_(flags=PARAMETER))
        result = NONE
    elif name in REGISTERS and len(given := [*args, *keywords.values()]) >= 2:
        _register(frame, node, receiver, name, given[0], given[1])  # in the order of the signature, as they are written
        result = NONE
    frame.interp.emitter.call(frame, node, f"torch.nn.Module.{name}", args, keywords, receiver, result)
    return result


def inherited_attribute(frame: Frame, node: ast.AST, module: Instance, name: str) -> Value | None:
    """What a class of torch gives its subclasses under a name; None for other names. A class not known to be a module may be one."""
    if name == "training":
        told = frame.env.get(TRAINS) if frame.region is not None else None
        return told if isinstance(told, Const) and parts_follow(frame, module) else BOOL
    if name in MODULE_METHODS:
        of_function = frame.interp.classes.external_base(module.cls).startswith("torch.autograd.")
        return frame.interp.classes.attribute(frame, node, module.cls, name) if of_function else Method(module, name)
    if name == "_modules" and frame.interp.classes.is_nn_module(module.cls):
        return _children(frame, module)
    held = name in facts.named("is a parameter or buffer of torch's modules")
    if held and returns.is_module_class(_public(frame.interp.classes.external_base(module.cls))):
        # `class Norm(nn.LayerNorm)`. What its constructor is told may leave it out: `bias=False`, `affine=False`.
        return join(Tensor(PROVEN, "f", -1, PARAMETER, frame.origin(node)), NONE)
    return None


def _children(frame: Frame, module: Instance) -> Dict:
    """The modules that the constructor of a module of the program gave it, by name: what `_modules` holds."""
    held = frame.interp.instance_attributes.of(module)
    parts = {name: value for name, value in held.items() if _is_module(frame, value)}
    unnamed = parts.pop("*", None)
    return Dict(parts, unnamed if parts or unnamed is not None else UNKNOWN)


def _is_module(frame: Frame, value: Value) -> bool:
    """Whether a value is a module, whatever else it may be beside None."""
    kinds = [option for option in value.options if option is not NONE]
    return bool(kinds) and all(
        frame.interp.classes.is_nn_module(option.cls)
        if isinstance(option, Instance)
        else isinstance(option, Object) and option.name.startswith("torch.nn.")
        for option in kinds
    )


def _tensors(frame: Frame, node: ast.AST, name: str) -> Value | None:
    """`module.parameters()`, `module.named_buffers()`; None for other methods."""
    if name not in facts.methods("gives the tensors of a module"):
        return None
    tensor = Tensor(PROVEN, "", -1, PARAMETER, frame.origin(node))
    return Seq("list", None, Seq("tuple", (STR, tensor)) if name.startswith("named_") else tensor)


_NAMED: Final = 32
"""Parameters that are told by name."""


def _by_name(frame: Frame, node: ast.AST, module: Value, name: str, args: Args, keywords: Keywords) -> Value | None:
    """`model.named_parameters()`, where eager code may ask for the names; None where they are not known."""
    if frame.region is not None or name != "named_parameters" or args or keywords:
        return None
    told = _named(frame, node, module)
    return Seq("list", told) if told and len(told) <= _NAMED else None


def _named(frame: Frame, node: ast.AST, module: Value, prefix: str = "") -> tuple[Value, ...] | None:
    """The parameters of a module by their names, in their order; None where not all of them are known."""
    found: list[Value] = []
    if isinstance(module, Object) and isinstance(module.args, (Seq, Dict)):
        inner = module.args
        if isinstance(inner, Seq) and inner.items is None or isinstance(inner, Dict) and inner.elem is not None:
            return None
        parts = dict(enumerate(inner.items or ())) if isinstance(inner, Seq) else dict(inner.items)
    elif isinstance(module, Object):
        if not module.name.startswith("torch.nn."):
            return None
        if not sizes.has_parameters(module.name):
            return () if sizes.is_known(module.name) else None
        tensor = Tensor(PROVEN, "f", -1, PARAMETER, frame.origin(node))
        made = module.origin.node
        bare = isinstance(made, ast.Call) and any(k.arg in ("bias", None) for k in made.keywords)
        kinds = sizes.parameters_of(module.name)
        return None if bare else tuple(Seq("tuple", (Const(f"{prefix}{kind}"), tensor)) for kind in kinds) or None
    elif isinstance(module, Instance) and frame.interp.classes.is_nn_module(module.cls):
        parts = dict(frame.interp.instance_attributes.of(module))
        if "*" in parts:
            return None
    else:
        return None
    for name, part in parts.items():
        if isinstance(part, Tensor) and part.flags & PARAMETER and not part.flags & NO_GRADIENT:
            found.append(Seq("tuple", (Const(f"{prefix}{name}"), part.with_(origin=frame.origin(node)))))
        elif isinstance(part, Instance) and not frame.interp.classes.is_nn_module(part.cls):
            continue
        elif isinstance(part, (Object, Instance)):
            inside = _named(frame, node, part, f"{prefix}{name}.")
            if inside is None:
                return None
            found.extend(inside)
        elif part is UNKNOWN or part.rank == ONE_OF:
            return None
    return tuple(found)


def walked(frame: Frame, node: ast.AST, name: str) -> Value | None:
    """`module.named_modules()` of what nobody knows, in eager code: modules, whichever they are; None for other methods."""
    if frame.region is not None or name not in _WALKS:
        return None
    part = Object("torch.nn.Module", frame.origin(node))
    return Seq("list", None, Seq("tuple", (STR, part)) if name.startswith("named_") else part)


def _register(frame: Frame, node: ast.AST, receiver: Instance, method: str, target: Value, value: Value) -> None:
    """`self.register_buffer("mask", mask)` and its like set an attribute."""
    tensor = tensor_of(value)
    if tensor is not None:
        value = tensor.with_(flags=PARAMETER | (tensor.flags & (SPARSE | NO_GRADIENT)), conf=PROVEN)
    elif method == "register_buffer":
        if value is UNKNOWN:
            value = Tensor(PROVEN, "", -1, PARAMETER, frame.origin(node))
    elif any(isinstance(option, ClassValue) for option in value.options):
        # torch refuses a class there: `layer` was made of it before, where it was one.
        value = join_all([option for option in value.options if not isinstance(option, ClassValue)])
    attribute = target.value if isinstance(target, Const) and isinstance(target.value, str) else "*"
    frame.interp.instance_attributes.store(frame, receiver, attribute, value)


def inherited_forward(
    frame: Frame, node: ast.AST, instance: Instance, base: str, args: Args, keywords: Keywords
) -> Value:
    """The forward that a class of the program has from one of torch's, told to the rules as that of torch's."""
    result = module_call(frame, node, base, args, keywords)
    frame.interp.emitter.call(frame, node, f"{base}.forward", args, keywords, instance, result)
    return result


def inherited_method(frame: Frame, node: ast.AST, receiver: Super, name: str, args: Args, keywords: Keywords) -> Value:
    """`super().name(…)` where the next class is outside the program."""
    if isinstance(receiver.instance, Instance):
        base = frame.interp.classes.external_base(receiver.instance.cls)
        if name in MODULE_METHODS:
            return method_of_instance(frame, node, receiver.instance, name, args, keywords)
        if base.startswith("torch.nn.") and name == "forward":
            return inherited_forward(frame, node, receiver.instance, base, args, keywords)
        frame.interp.emitter.call(frame, node, f"super.{name}", args, keywords, receiver, UNKNOWN)
    return UNKNOWN


objects.register(objects.MODULES, attribute=_attribute, call=_call, method=_method)
objects.register(_SEQUENTIAL, item=_item)
objects.register(several_devices.KIND, method=_method)
objects.on_any_object(facts.named("registers a backward hook"), _note_backward_hook)
