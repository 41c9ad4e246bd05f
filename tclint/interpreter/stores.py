"""Assignment targets: names, attributes, subscripts, unpacking."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tclint import events
from tclint.interpreter import bindings, exceptions, parameters, registries, witnesses
from tclint.interpreter.account import key_text
from tclint.interpreter.evaluate import evaluate, holder
from tclint.interpreter.frame import Frame
from tclint.interpreter.gradients import freeze
from tclint.interpreter.modes import ask_gradients
from tclint.interpreter.overwrites import gathered
from tclint.sources.tree import nodes
from tclint.values import (
    GRAPHED,
    INPUT,
    NAMED,
    PARAMETER,
    RAW,
    UNKNOWN,
    USED,
    ClassValue,
    Compiled,
    Const,
    Dict,
    Instance,
    ModuleValue,
    Object,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
    join,
)
from tclint.values.constant import is_none
from tclint.values.graph import is_graph
from tclint.values.moments import COUNTED_UP, GROWS, StatePlace
from tclint.values.place import is_place, path_of, put_back, rename
from tclint.values.tensor import by_name


def store(
    frame: Frame,
    target: ast.expr,
    value: Value,
    statement: ast.AST,
    *,
    augmented: bool = False,
    old: Value | None = None,
    quiet: bool = False,
) -> None:
    """Bind a value to a target; `quiet` where the binding itself is no event (loop variables)."""
    kind = type(target)
    # Most programs capture no graph by hand: then a name is only bound, and nobody has read of it.
    if frame.region is None:
        plain = kind is ast.Name or kind is ast.Attribute
        if plain and (augmented or frame.interp.recordings.concerned) or kind is ast.Subscript:
            _note(frame, target, value, statement, augmented)
    if kind is ast.Name:
        _name(frame, target, value, statement, augmented, old)  # type: ignore[arg-type]
    elif kind is ast.Attribute:
        _attribute(frame, target, value, statement, augmented, old)  # type: ignore[arg-type]
    elif kind is ast.Subscript:
        _subscript(frame, target, value, statement, augmented, old)  # type: ignore[arg-type]
    elif kind is ast.Tuple or kind is ast.List:
        _unpack(frame, target, value, statement, quiet)  # type: ignore[arg-type]
    elif kind is ast.Starred:
        store(frame, target.value, Seq("list", None, UNKNOWN), statement, quiet=quiet)  # type: ignore[attr-defined]


def _note(frame: Frame, target: ast.expr, value: Value, statement: ast.AST, augmented: bool) -> None:
    """What graphs captured by hand have read of this place: another tensor, or new values in the same one."""
    recordings = frame.interp.recordings
    if isinstance(target, ast.Subscript):
        recordings.write(frame, target.value, statement, keeps=augmented)
    elif augmented and isinstance(value, Tensor):
        recordings.write(frame, target, statement, keeps=True)
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and target.slice.value == "lr":
        recordings.do("rate", None, frame, statement)
    if is_none(value) or is_graph(value):
        recordings.forget(frame, bindings.held_at(frame, target), statement)
    if _is_first(frame, target):
        return
    if recordings.may_concern(_last_name(target), value) and not (augmented and isinstance(value, Tensor)):
        recordings.bind(frame, bindings.of_target(frame, target), statement, value)
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            for place in bindings.passed_as(frame, target.value.id):
                index = evaluate(frame, target.slice)
                if isinstance(index, Const):
                    recordings.bind(frame, place._replace(name=f"{place.name}[{index.value!r}]"), statement, value)


def _is_first(frame: Frame, target: ast.expr) -> bool:
    """Whether a test says that nothing was bound here before: `if self.x is None: self.x = x.clone()`. No graph has read it."""
    place = path_of(target)
    held = frame.env.get(place) if place is not None else None
    return held is not None and is_none(held)


def note_update(
    frame: Frame, holder: ast.expr, node: ast.AST, args: Sequence[Value], given: Mapping[str, Value]
) -> None:
    """`entries.update(x=…)`, `entries.update({"x": …})`: as if each were bound by itself."""
    recordings = frame.interp.recordings
    held = args[0].items if args and isinstance(args[0], Dict) else {}
    for key, value in (*held.items(), *given.items()):
        if recordings.may_concern(_last_name(holder), value):
            for place in bindings.entries(frame, holder, key):
                recordings.bind(frame, place, node, value)


def _last_name(target: ast.expr) -> str:
    """`x` of `x`, `self.x` and `self.x["key"]`."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""


def _name(frame: Frame, target: ast.Name, value: Value, statement: ast.AST, augmented: bool, old: Value | None) -> None:
    name = target.id
    if (
        frame.region is not None
        and not augmented
        and (value is UNKNOWN or type(value) is Tensor and value.conf == NAMED)
    ):
        value = witnesses.seen(frame, name, value, statement)
    scope = "global" if name in frame.globals else "nonlocal" if name in frame.nonlocals else "name"
    if (scope != "name" or augmented or frame.region is None) and not frame.interp.emitter.quiet:
        frame.interp.emitter.emit(events.Store, frame, statement, scope, UNKNOWN, name, value, None, augmented, old)
    if frame.region is None and (scope != "name" or frame.function is None):
        frame.interp.account.write_name(frame, statement, name, name, value, _again(statement, value))
        if scope == "global":
            frame.interp.learned.set_globals[(frame.module.path, name)] = value
        outer = frame.top_level if scope == "global" else frame.closure if scope == "nonlocal" else None
        followed = value.contains(GRAPHED) is not None or isinstance(value, Compiled)
        if isinstance(outer, dict) and (followed or name in outer):
            outer[name] = value
        frame.interp.heap.change()
        if frame.function is None and type(value) is Dict and registries.is_filled(frame.module, name):
            value = registries.filled(frame.interp, frame.module, name, value)
    frame.set(name, value)


def _again(statement: ast.AST, value: Value) -> str:
    """Why `x += 1` gives another value each time it runs."""
    if not isinstance(statement, ast.AugAssign) or isinstance(value, Tensor):
        return ""
    number = value.python_type in ("int", "float", "number") or isinstance(statement.value, ast.Constant)
    return COUNTED_UP if number else ""


def _is_module(frame: Frame, value: Value) -> bool:
    if isinstance(value, Instance):
        return frame.interp.classes.is_nn_module(value.cls)
    return isinstance(value, Object) and value.kind == "module"


def _made_with(frame: Frame, layer: Object, made: ast.Call) -> Value:
    """What another layer in the place of one is told apart by: the arguments it is made with. Alike it costs nothing."""
    with frame.interp.emitter.silence:
        nodes = (*made.args, *(keyword.value for keyword in made.keywords))
        given = [(node, evaluate(frame, node)) for node in nodes]
    told = [_made_with(frame, v, n) if isinstance(v, Object) and isinstance(n, ast.Call) else v for n, v in given]
    return Seq("layer", (Const(layer.name), *told))


def _module_in_place(frame: Frame, module: Value) -> Value:
    """What another module in the place of one is told apart by: its class, and the numbers it was built from."""
    if not isinstance(module, Instance):
        return Const(repr(module))
    init = frame.interp.classes.find_method(module.cls, "__init__")
    used = init.node_index(_computed_with) if init is not None else frozenset()
    made = frame.interp.heap.made_with(module).items()
    numbers = [
        f"{name}={v.value}" for name, v in made if isinstance(v, Const) and type(v.value) is int and name in used
    ]
    return Const(f"{module.cls.qualname}({', '.join(numbers)})" if numbers else module.cls.qualname)


def _computed_with(constructor: ast.AST) -> frozenset[str]:
    """The names that a constructor does more with than to keep them: `self.table = torch.zeros(length, 8)`."""
    kept = {id(node.value) for node in nodes(constructor) if isinstance(node, ast.Assign)}
    return frozenset(
        node.id
        for node in nodes(constructor)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in kept
    )


def _attribute(
    frame: Frame, target: ast.Attribute, value: Value, statement: ast.AST, augmented: bool, old: Value | None
) -> None:
    receiver = evaluate(frame, target.value)
    frame.interp.emitter.emit(
        events.Store, frame, statement, "attribute", receiver, target.attr, value, None, augmented, old
    )
    if target.attr == "requires_grad":
        freeze(frame, receiver, value)
        ask_gradients(frame, statement, receiver, value)
    elif target.attr == "grad" and frame.region is None:
        frame.interp.graph_memory.drop_gradients(filled=isinstance(value, Tensor))
        frame.interp.recordings.do("drop", None, frame, statement, value)
    if frame.region is None and not frame.constructing:
        again, told = _again(statement, value), value
        if isinstance(value, Object) and isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            told = _made_with(frame, value, statement.value)
        elif _is_module(frame, value):
            told = _module_in_place(frame, value)
        for owner in receiver.options:
            if isinstance(owner, Compiled):
                owner = owner.target
            if isinstance(owner, Instance):
                frame.interp.account.write_attribute(frame, statement, owner, target.attr, told, again)
            elif isinstance(owner, ClassValue):
                frame.interp.account.rebind(owner.cls, target.attr)
            elif isinstance(owner, Object) and owner.kind == "module":
                # Layers of torch are told apart by their class alone: a walk over a model sets all of one kind.
                frame.interp.account.write(frame, statement, ("attribute", "", owner.name, target.attr), value, again)
            elif isinstance(owner, ModuleValue):
                place: StatePlace = ("global", owner.module.path, "", target.attr)
                frame.interp.account.write(frame, statement, place, value, again)
        if isinstance(target.value, ast.Name):
            base = target.value.id
            frame.interp.account.write_name(frame, statement, base, f"{base}.{target.attr}", value, again)
    if isinstance(receiver, Instance) and frame.region is None and not frame.constructing:
        frame.interp.graph_memory.hold(receiver, target.attr, value)
    if isinstance(receiver, Instance) and frame.region is not None and isinstance(value, Tensor) and not augmented:
        site = frame.region.site
        if site is not None and site.cudagraphs and not value.flags & (INPUT | PARAMETER):
            frame.interp.graph_memory.leave(receiver, target.attr, value)
    inner = receiver.target if isinstance(receiver, Compiled) else receiver  # the wrapper hands on what it is given
    if isinstance(inner, Instance) and not (augmented and isinstance(value, Tensor)):
        within = bindings.holder_of(frame, target.value)
        rebound = frame.constructing and frame.is_certain
        frame.interp.instance_attributes.store(frame, inner, target.attr, value, replace=rebound, holder=within)
    elif isinstance(receiver, Object) and isinstance(target.value, ast.Attribute):
        owner = evaluate(frame, target.value.value)
        if isinstance(owner, Compiled):
            owner = owner.target
        if isinstance(owner, Instance) and not frame.constructing:
            # `net.drop.p = p`: what the layer is configured with.
            told = Const(f"{target.attr} = {value.value!r}") if isinstance(value, Const) else value
            again = _again(statement, value)
            frame.interp.account.write_attribute(frame, statement, owner, target.value.attr, told, again)
    if isinstance(receiver, Instance) and receiver.identity and frame.region is not None:
        frame.interp.heap.write(receiver, target.attr, UNKNOWN)  # what compiled code makes of it nobody knows
    if isinstance(target.value, ast.Name):
        if frame.region is None:
            updated = receiver.with_fields({target.attr: value})
            if updated is not receiver:
                frame.set(target.value.id, updated)
            if isinstance(receiver, Instance) and receiver.identity and not frame.capturing:
                frame.env.pop(f"{target.value.id}.{target.attr}", None)  # what `if self.x is None:` knew of it
                return  # the heap has it
        frame.set_path(f"{target.value.id}.{target.attr}", value)


def _subscript(
    frame: Frame, target: ast.Subscript, value: Value, statement: ast.AST, augmented: bool, old: Value | None
) -> None:
    receiver = holder(frame, target.value)
    index = evaluate(frame, target.slice)
    receiver = by_name(receiver, index)
    frame.interp.emitter.emit(events.Store, frame, statement, "subscript", receiver, "", value, index, augmented, old)
    place = path_of(target.value)
    if place is None:
        _inner_subscript(frame, target, receiver, index, value, statement)
        return
    if isinstance(target.value, ast.Name) and key_text(index):
        again = _again(statement, value)
        frame.interp.account.write_name(frame, statement, place, f"{place}{key_text(index)}", value, again)
        if isinstance(receiver, Dict) and isinstance(index, Const) and index.value not in receiver.items:
            frame.interp.account.write_name(frame, statement, place, f"{place}{{}}", value, GROWS)
    updated = receiver.with_item(index, value)
    if updated is not receiver:
        owner = frame.env.get(place.partition(".")[0])
        if "." in place and isinstance(owner, Instance) and isinstance(updated, Object):
            frame.interp.instance_attributes.store(frame, owner, place.partition(".")[2], updated)
        if "." not in place and place not in frame.top_level:
            frame.set(place, updated)
        else:
            put_back(frame, target.value, updated)
        rename(frame, receiver, updated)


def _inner_subscript(
    frame: Frame, target: ast.Subscript, receiver: Value, index: Value, value: Value, statement: ast.AST
) -> None:
    """`CONFIG["pool"]["kernel"] = 3`, `self.net.sizes[0] = n`: a container in a container, or in an object far away."""
    if frame.region is not None:
        if isinstance(target.value, ast.Subscript) and (updated := receiver.with_item(index, value)) is not receiver:
            put_back(frame, target.value, updated)
        return
    place: ast.expr = target.value
    inner = key_text(index)
    while isinstance(place, ast.Subscript) and inner and is_place(place.slice):
        outer = key_text(evaluate(frame, place.slice))
        inner = f"{outer}{inner}" if outer else ""
        place = place.value
    if isinstance(place, ast.Name) and inner:
        again = _again(statement, value)
        frame.interp.account.write_name(frame, statement, place.id, f"{place.id}{inner}", value, again)
    updated = receiver.with_item(index, value)
    if updated is not receiver:
        put_back(frame, target.value, updated)
        rename(frame, receiver, updated)


def _unpack(frame: Frame, target: ast.Tuple | ast.List, value: Value, statement: ast.AST, quiet: bool) -> None:
    elements = target.elts
    gathered(frame, statement, value)
    frame.interp.emitter.walk(frame, statement, "unpacking of", value, getattr(statement, "value", None))
    if any(isinstance(each, ast.Starred) for each in elements):
        exceptions.fails_to_unpack(frame, statement, value, "unpacking of a number with a star")
    for element, item in zip(elements, spread(frame, value, elements, statement), strict=True):
        inner = element.value if isinstance(element, ast.Starred) else element
        store(frame, inner, item, statement, quiet=quiet)


def spread(frame: Frame, value: Value, targets: list[ast.expr], node: ast.AST) -> list[Value]:
    """The values that unpacking gives to each target."""
    n = len(targets)
    stars = [i for i, t in enumerate(targets) if isinstance(t, ast.Starred)]
    if isinstance(value, Union):
        fitting = [o for o in value.options if not stars and isinstance(o, Seq) and len(o.items or ()) == n]
        # Where one of them is a tuple of just so many items, that one is meant: a tensor is seldom unpacked.
        options: list[Value] = [*fitting] or [option for option in value.options if not is_none(option)]
        columns = [spread(frame, option, targets, node) for option in options]
        if columns:
            result = columns[0]
            for column in columns[1:]:
                result = [join(a, b) for a, b in zip(result, column, strict=True)]
            return result
    items = value.known_items(frame)
    if items is not None:
        if not stars and len(items) == n:
            return list(items)
        if not stars and isinstance(value, Seq):
            exceptions.fails(frame, node, "unpacking that fails")
        if len(stars) == 1 and len(items) >= n - 1:
            i = stars[0]
            after = n - 1 - i
            middle = items[i : len(items) - after]
            tail = list(items[len(items) - after :]) if after else []
            return [*items[:i], Seq("list", tuple(middle)), *tail]
    if isinstance(value, Seq) and value.kind == "size" and value.length and not stars:
        return [Scalar("int", "size", frame.origin(node), (value.length, i)) for i in range(n)]
    if (
        isinstance(value, Seq)
        and value.kind == "size"
        and isinstance(value.elem, Scalar)
        and value.elem.ref
        and not stars
    ):
        tensor, first = value.elem.ref
        return [Scalar("int", "size", frame.origin(node), (tensor, first + i)) for i in range(n)]
    element = value.iterate(frame, node)
    if isinstance(value, Tensor) and value.flags & RAW and value.flags & INPUT and value.conf == USED and n > 1:
        return [
            element.with_(conf=_seen(frame, target)) if isinstance(element, Tensor) else element for target in targets
        ]
    return [Seq("list", None, element) if i in stars else element for i in range(n)]


def _seen(frame: Frame, target: ast.expr) -> int:
    """How sure it is that a part of an argument is a tensor: what is unpacked is a tuple as a rule, of anything."""
    used = parameters.names_used_as_tensors(frame.function) if frame.function is not None else frozenset[str]()
    return USED if isinstance(target, ast.Name) and target.id in used else NAMED
