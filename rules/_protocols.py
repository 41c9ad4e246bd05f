"""Which feature of the language shows where compiled code meets what was made outside of it: an iterator, an
object written in C, a function that torch was told not to look into."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from typing import Final

from tclint.events import Call, Event, ProgramCall, Return, Store, Subscript
from tclint.program import Function, Module
from tclint.rules._scope import of_file, stores
from tclint.sources.tree import holders, nodes
from tclint.values import (
    ARRAY,
    INPUT,
    PARAMETER,
    RAW,
    ClassValue,
    Const,
    Dict,
    External,
    FunctionValue,
    Instance,
    Method,
    Object,
    Partial,
    Scalar,
    Seq,
    Super,
    Tensor,
    Value,
    tensor_of,
)

_NONSTRICT: Final = "torch._dynamo.nonstrict_trace"
_CLASSES: Final = "enable_trace_load_build_class"
_LEAF: Final = "torch._dynamo.decorators.leaf_function"
_BINDS: Final = "types.FunctionType.__get__"
_SHARDED: Final = "torch.distributed.fsdp.FullyShardedDataParallel"
_CONSTANT: Final = "torch._dynamo.assume_constant_result"


def of_call(event: Call) -> str | None:
    """What a call asks of a value that was made outside, or that has no way back to one."""
    value = event.args[0] if event.args else None
    if event.name == "builtins.next" and isinstance(value, Seq) and value.kind != "generator":
        # A list has no next: this is an iterator over one.
        walked = event.node.args[0] if isinstance(event.node, ast.Call) else None
        held = walked is not None and (_is_held(event, walked) or _is_argument(event, walked))
        return f"next() of a {value.kind} that is held" if held else None
    if event.method == "send" and isinstance(event.receiver, Seq) and isinstance(event.node, ast.Call):
        function = event.node.func
        held = isinstance(function, ast.Attribute) and _is_held(event, function.value)
        return "send() of a generator that is held" if held else None
    if event.name.startswith("builtins.") and value is not None:
        return _of_question(event, value)
    if event.method == "__call__" and isinstance(event.receiver, Object) and event.name.startswith(_SHARDED):
        return None if _keeps_parameters(event.receiver.origin.node) else f"{_SHARDED} that flattens the parameters"
    if event.name.startswith("torch.distributed."):
        flag = event.keywords.get("async_op")
        return "collective with async_op" if isinstance(flag, Const) and flag.value is True else None
    if event.name == "itertools.groupby" and "key" not in event.keywords and len(event.args) == 1:
        tensors = isinstance(value, Seq) and tensor_of(value.element()) is not None
        return f"{event.name} of tensors" if tensors else None
    if event.name == "Tensor.set_" and value is not None:
        if len(event.args) > 1:
            return "set_() with a storage"
        tensor = tensor_of(event.receiver) if event.receiver is not None else None
        itself = tensor is not None and tensor.flags & (INPUT | RAW | PARAMETER) == INPUT | RAW
        return "set_() of an input" if itself or is_held_by_module(event) else "set_() with a tensor"
    if event.method == "checkpoint" and isinstance(given := event.keywords.get("context_fn"), Partial):
        return _of_contexts(given)
    if event.name == _NONSTRICT and isinstance(value, FunctionValue):
        return f"{_NONSTRICT} of a function that is made here" if value.closure is not None else None
    if event.name == _BINDS and isinstance(value, FunctionValue):
        return f"{event.method} of a function that is made here" if value.is_made_here else None
    if event.name.startswith("torch.Tensor.") and isinstance(value, Tensor) and value.flags & INPUT:
        return f"{event.name} of an input"
    return None


def _keeps_parameters(made: ast.AST | None) -> bool:
    """Whether the call that wraps a module leaves its parameters as they are, or may: `use_orig_params=…`."""
    if not isinstance(made, ast.Call) or any(each.arg is None for each in made.keywords):
        return True
    told = next((each.value for each in made.keywords if each.arg == "use_orig_params"), ast.Constant(False))
    return not (isinstance(told, ast.Constant) and told.value is False)


def is_held_by_module(event: Call) -> bool:
    """Whether a method is called of a parameter or buffer itself: `self.scale.t_()`, and not of a view of it."""
    tensor = tensor_of(event.receiver) if event.receiver is not None else None
    function = event.node.func if isinstance(event.node, ast.Call) else None
    if tensor is None or not tensor.flags & PARAMETER or not isinstance(function, ast.Attribute):
        return False
    place = function.value
    return isinstance(place, ast.Attribute) and isinstance(event.ask.evaluate(place.value), Instance)


def _of_question(event: Call, value: Value) -> str | None:
    """`str()`, `repr()`, `hasattr()` or `getattr()` of what has no rule for it."""
    if isinstance(value, Object):
        return f"{event.method}() of a {value.name}"
    if event.method == "repr" and isinstance(value, FunctionValue):
        captured = value.closure or {}
        tensors = any(tensor_of(captured[name]) is not None for name in value.function.free_names() & captured.keys())
        return "repr() of a function with a closure" if tensors else "repr() of a function"
    if event.method == "hasattr" and isinstance(value, External):
        return "hasattr() of a module of Python" if value.name in sys.stdlib_module_names else None
    if event.method == "getattr" and len(event.args) == 3 and isinstance(value, Super):
        return "hasattr() of a super()"  # what the default is for
    if event.method == "hasattr":
        what = "slice" if isinstance(value, Seq) and value.kind == "slice" else ""
        what = value.maker if isinstance(value, Seq) and value.maker else what
        what = "super()" if isinstance(value, Super) else what
        if isinstance(value, Method) and isinstance(value.receiver, Tensor):
            what = "method of a tensor"
        return f"hasattr() of a {what}" if what else None
    if event.method == "getattr" and isinstance(value, Tensor) and value.flags & ARRAY and len(event.args) > 1:
        name = event.args[1]
        return f"{name.value} of an array" if isinstance(name, Const) else None
    return None


def _of_contexts(given: Partial) -> str | None:
    """What the `context_fn` of a checkpoint brings along."""
    values = (*given.args, *given.keywords.values())
    if any(tensor_of(each) is not None for each in values):
        return "checkpoint with a context_fn that holds a tensor"
    functions = [each for each in values if isinstance(each, FunctionValue)]
    what = "a method" if any(isinstance(each.bound, Instance) for each in functions) else "a function"
    return f"checkpoint with a context_fn that holds {what}" if functions else None


def _is_held(event: Event, node: ast.expr) -> bool:
    """Whether this was made in another frame: an attribute that the function itself does not write, an item of one, a name
    of the file."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        return of_file(event, node.id)
    if not isinstance(node, ast.Attribute) or event.enclosing is None:
        return False
    return node.attr not in event.ask.of_function(_written)


def _is_argument(event: Event, node: ast.expr) -> bool:
    """Whether this is what the compiled function is given, under the name of the parameter."""
    if not isinstance(node, ast.Name) or event.enclosing is None or event.enclosing is not event.ask.root():
        return False
    bound = event.ask.of_function(_assigned)
    return node.id in event.enclosing.bound_names() and node.id not in bound


def _assigned(function: Function) -> frozenset[str]:
    """The names that the body of a function binds."""
    found = (each for each in ast.walk(function.node) if isinstance(each, ast.Name))
    return frozenset(each.id for each in found if isinstance(each.ctx, ast.Store))


def _written(function: Function) -> frozenset[str]:
    """The attributes that a function writes."""
    found = (each for each in ast.walk(function.node) if isinstance(each, ast.Attribute))
    return frozenset(each.attr for each in found if isinstance(each.ctx, ast.Store))


def of_store(event: Store) -> str | None:
    """A field of an object that is laid out in C."""
    if event.target == "attribute" and isinstance(event.receiver, Instance):
        base = event.ask.external_base(event.receiver.cls)
        return f"write of an attribute of an object below {base}" if base else None
    return None


def of_item(event: Subscript) -> str | None:
    """What is asked for by an item: a dict that `super()` gives, a type of `typing`."""
    if not isinstance(event.receiver, (Dict, External)):
        return None
    node = event.node.value if isinstance(event.node, ast.Subscript) else None
    owner = node.value if isinstance(node, ast.Attribute) else None
    named = owner.func if isinstance(owner, ast.Call) else None
    if isinstance(event.receiver, Dict) and isinstance(named, ast.Name) and named.id == "super":
        return "item of a dict of a class by super()"
    own = isinstance(event.index, FunctionValue) and event.index.function.parent is not None
    typed = isinstance(event.receiver, External) and event.receiver.name.startswith("typing.")
    return "type of typing with a function of the region" if own and typed else None


def of_return(event: Return) -> Iterator[str]:
    """What cannot be made again for those who called the compiled function."""
    assert isinstance(event.node, ast.Return)
    if event.yields:
        return
    for value in event.value.items or () if isinstance(event.value, Seq) else (event.value,):
        if isinstance(value, Scalar) and value.source == "id" and _is_of_computed(event, value):
            yield "id of a computed tensor that is returned"
        if isinstance(value, Object) and value.name == "contextlib.context":
            yield "return of a @contextmanager"
    given = event.node.value
    entered = event.ask.of_function(_entered)
    made_here = event.ask.of_function(_made)
    for node in given.elts if isinstance(given, ast.Tuple) else (given,):
        function = node.func if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Name):
            function = entered.get(node.id) or made_here.get(node.id)
        made = event.ask.evaluate(function) if function is not None else None
        if (
            isinstance(function, ast.Name)
            and event.configured(_CLASSES)
            and function.id in event.ask.of_function(_classes)
        ):
            yield "object of a class of the function that leaves"
        if isinstance(made, External):
            yield f"return of a {made.name}"
        elif isinstance(made, Method) and isinstance(made.receiver, Object):
            yield f"return of a {made.receiver.name}.{made.name}"


def _is_of_computed(event: Return, value: Scalar) -> bool:
    """Whether a number is the `id` of what compiled code makes."""
    asked = value.origin.node
    given = event.ask.evaluate(asked.args[0]) if isinstance(asked, ast.Call) and asked.args else None
    if isinstance(given, Tensor):
        return not given.flags & (INPUT | PARAMETER)
    made = isinstance(asked, ast.Call) and event.ask.is_made_here(asked.args[0])
    return made and isinstance(given, (Seq, Dict, Instance))


def _made(function: Function) -> Mapping[str, ast.expr]:
    """Which names one assignment alone binds to which call's function."""
    return {
        each.targets[0].id: each.value.func
        for each in holders(function.node)
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call)
        if isinstance(each.targets[0], ast.Name) and function.index(stores)[each.targets[0].id] == 1
    }


def _classes(function: Function) -> frozenset[str]:
    """The classes that a function makes in its own body."""
    body = function.node.body
    return (
        frozenset(each.name for each in body if isinstance(each, ast.ClassDef))
        if isinstance(body, list)
        else frozenset()
    )


def _entered(function: Function) -> Mapping[str, ast.expr]:
    """Which names `with … as name` binds to which call's function."""
    items = (item for each in holders(function.node) if isinstance(each, ast.With) for item in each.items)
    return {
        item.optional_vars.id: item.context_expr.func
        for item in items
        if isinstance(item.optional_vars, ast.Name) and isinstance(item.context_expr, ast.Call)
    }


def of_program_call(event: ProgramCall) -> Iterator[str]:
    """A function of the program that is called like a protocol, or that torch was told not to look into."""
    if not isinstance(event.function, FunctionValue):
        return
    function = event.function.function
    if function.name[:2] == "__" and event.function.bound is None and event.args:
        if isinstance(event.args[0], (Dict, Seq, Tensor)):
            yield f"{function.name} that is a function"
    for decorator in function.decorators if function.module is event.module else ():
        made = event.ask.evaluate(decorator)
        if isinstance(made, External) and any(_is_plain_object(event, each) for each in event.args):
            yield f"function under {made.name} with an object of the program"
        if isinstance(made, External) and made.name == _NONSTRICT:
            yield from _of_nonstrict(event, function)
        elif isinstance(made, External) and made.name == _CONSTANT:
            yield from _of_constant(event)
        elif isinstance(made, External) and made.name == _LEAF:
            yield from _of_leaf(event)


def _is_plain_object(event: ProgramCall, value: Value) -> bool:
    return isinstance(value, Instance) and not event.ask.is_nn_module(value.cls)


def _of_nonstrict(event: ProgramCall, function: Function) -> Iterator[str]:
    trees = event.ask.of_file(registered)
    given = event.node.args if isinstance(event.node, ast.Call) else ()
    for value, node in zip(event.args, given, strict=False):
        if isinstance(value, Instance) and not event.ask.is_nn_module(value.cls):
            way = trees.get(value.cls.name)
            if way is None:
                yield f"function under {_NONSTRICT} with an object"
            elif way == "register_constant" and isinstance(node, ast.Call):
                yield f"function under {_NONSTRICT} with a constant that is made here"
            elif _has_context(event, value):
                yield f"function under {_NONSTRICT} with an object in the context of a tree"
    for each in ast.walk(function.node):
        made = each.value.func if isinstance(each, ast.Return) and isinstance(each.value, ast.Call) else None
        if isinstance(made, ast.Name) and made.id not in trees:
            if isinstance(event.ask.module_value(made.id, function.module), ClassValue):
                yield f"function under {_NONSTRICT} that returns an object"
                return


def _of_leaf(event: ProgramCall) -> Iterator[str]:
    """A function that stays whole is told of modules by the way to them: one that compiled code makes has none."""
    given = event.node.args if isinstance(event.node, ast.Call) else ()
    for value, node in zip(event.args, given, strict=False):
        torch_module = isinstance(value, Object) and value.name.startswith("torch.nn.")
        if torch_module or isinstance(value, Instance) and event.ask.is_nn_module(value.cls):
            if event.ask.is_made_here(node):
                yield f"function under {_LEAF} with a module that is made here"


def _of_constant(event: ProgramCall) -> Iterator[str]:
    for value in event.args:
        if isinstance(value, Seq):
            held = _holds_tensor(value)
            yield f"function under {_CONSTANT} with {'tensors in a list' if held else 'a list'}"


def _holds_tensor(value: Value, deep: int = 3) -> bool:
    """Whether a list, or a list in it, holds a tensor."""
    if isinstance(value, Seq) and deep:
        return any(_holds_tensor(each, deep - 1) for each in value.items or (value.element(),))
    return tensor_of(value) is not None


def _has_context(event: ProgramCall, value: Instance) -> bool:
    """Whether what a tree is taken apart to has an object of the program beside its leaves, which no graph can hold."""
    held = event.ask.attributes(value).get(event.ask.of_file(_contexts).get(value.cls.name, ""))
    return isinstance(held, Instance)


def _contexts(module: Module) -> Mapping[str, str]:
    """For classes that are told to torch as trees, the attribute that `lambda p: ((p.x,), p.meta)` puts beside the leaves."""
    found = {}
    for node in nodes(module.tree) if b"register_pytree_node" in module.data else ():
        if isinstance(node, ast.Call) and len(node.args) > 1 and isinstance(node.args[0], ast.Name):
            parts = node.args[1].body if isinstance(node.args[1], ast.Lambda) else None
            beside = parts.elts[1] if isinstance(parts, ast.Tuple) and len(parts.elts) == 2 else None
            if isinstance(beside, ast.Attribute):
                found[node.args[0].id] = beside.attr
    return found


def registered(module: Module) -> Mapping[str, str]:
    """Which classes of a file are told to torch as trees or constants, and how."""
    if b"register_" not in module.data:
        return {}
    found = {}
    for node in nodes(module.tree):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name.startswith("register_"):
                found[node.args[0].id] = name
    return found
