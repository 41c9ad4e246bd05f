"""Places: names, attributes and entries of dicts, told apart so that a later binding is known to be of the same one."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from typing import NamedTuple

from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.program import Class
from tclint.sources.tree import nodes
from tclint.torch_facts import facts
from tclint.values import Compiled, Const, Instance, Object, Tensor, Value, tensor_of


class Place(NamedTuple):
    """Something that can be bound: `kind` is `name`, `global` or `attribute`."""

    kind: str
    owner: Hashable
    """The function, the file or the object that has it."""
    name: str
    of_module: bool = False


def owner_of(value: Value) -> Hashable | None:
    """What tells one object from another, as far as its construction does."""
    if isinstance(value, Compiled):
        value = value.target
    if isinstance(value, Instance):
        return (value.cls.module.path, value.cls.qualname, value.context)
    return (value.name, value.origin.node) if isinstance(value, Object) and value.origin.node is not None else None


def of_attribute(frame: Frame, owner: Value, name: str) -> Place | None:
    identity = owner_of(owner)
    if identity is None:
        return None
    module = isinstance(owner, Instance) and frame.interp.classes.is_nn_module(owner.cls)
    return Place("attribute", identity, name, module or isinstance(owner, Object))


def of_name(frame: Frame, name: str) -> Place:
    """The place of a name in a function, in the one around it, or in the file."""
    function = frame.function
    if function is None or name in frame.globals:
        return Place("global", frame.module.path, name)
    if name not in frame.env or name in frame.nonlocals:
        if frame.closure is not None and name in frame.closure and function.parent is not None:
            return Place("name", (frame.module.path, function.parent.qualname), name)
        if frame.module.named(name) is not None:
            return Place("global", frame.module.path, name)
    return Place("name", (frame.module.path, function.qualname), name)


def of_target(frame: Frame, node: ast.expr) -> Place | None:
    """The place that an expression reads or binds: `x`, `self.x`, `a.b.x`, `x["key"]`; None for anything else."""
    if isinstance(node, ast.Name):
        return of_name(frame, node.id)
    if isinstance(node, ast.Attribute):
        owner = _value(frame, node.value)
        if isinstance(owner, Tensor):
            # `layer.weight.data = w`: what is bound is the tensor's memory.
            return (_of_parameters(frame, owner) or of_target(frame, node.value)) if node.attr == "data" else None
        return of_attribute(frame, owner, node.attr) if owner is not None else None
    if isinstance(node, ast.Subscript):
        index, holder = _value(frame, node.slice), _value(frame, node.value)
        if holder is None or isinstance(holder, Tensor) or not isinstance(index, Const):
            return None
        base = of_target(frame, node.value)
        return base._replace(name=f"{base.name}[{index.value!r}]") if base is not None else None
    return None


def held_at(frame: Frame, node: ast.expr) -> Value | None:
    """What a name or an attribute holds before it is bound anew; None where that is not known."""
    return _value(frame, node) if isinstance(node, (ast.Name, ast.Attribute)) else None


def _of_parameters(frame: Frame, tensor: Tensor) -> Place | None:
    """For a tensor of `module.parameters()`: some parameter of the module."""
    made = tensor.origin.node
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute):
        return None
    if made.func.attr not in facts.methods("gives the tensors of a module"):
        return None
    owner = _value(frame, made.func.value)
    return of_attribute(frame, owner, "*") if owner is not None else None


def _value(frame: Frame, node: ast.expr) -> Value | None:
    """The value of an expression that was evaluated already: nothing may happen a second time, so nothing is called."""
    if any(isinstance(part, (ast.Call, ast.Await, ast.NamedExpr)) for part in nodes(node)):
        return None
    with frame.interp.emitter.silence:
        return evaluate(frame, node)


def passed_as(frame: Frame, name: str) -> Iterator[Place]:
    """The places of the callers whose values a parameter holds, where the function leaves it as it is."""
    function, parent, call = frame.function, frame.parent, frame.call_node
    if function is None or parent is None or not isinstance(call, ast.Call) or name in function.stored_names():
        return
    arguments = function.node.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    if function.cls is not None and isinstance(call.func, ast.Attribute) and names and names[0] in ("self", "cls"):
        names = names[1:]
    given = dict(zip(names, call.args, strict=False))
    given.update({k.arg: k.value for k in call.keywords if k.arg is not None})
    node = given.get(name)
    place = of_target(parent, node) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) else None
    if place is not None:
        yield place
        if isinstance(node, ast.Name):
            yield from passed_as(parent, node.id)


def entries(frame: Frame, holder: ast.expr, key: object) -> Iterator[Place]:
    """The places of an entry of a dict: as this function names the dict, and as its callers do who hand it over."""
    base = of_target(frame, holder)
    if base is not None:
        yield base._replace(name=f"{base.name}[{key!r}]")
    for place in passed_as(frame, holder.id) if isinstance(holder, ast.Name) else ():
        yield place._replace(name=f"{place.name}[{key!r}]")


def root_of(frame: Frame, node: ast.expr) -> Tensor | None:
    """The tensor whose memory an expression is: `x` of `x[:n]`, `x.T`, `x.view(-1)`."""
    while not isinstance(node, ast.Name):
        inner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
        if isinstance(node, (ast.Subscript, ast.Attribute)):
            inner = node.value
        if inner is None or not isinstance(node, ast.Call) and not isinstance(_value(frame, inner), Tensor):
            break
        node = inner
    value = _value(frame, node)
    return tensor_of(value) if value is not None else None


def holder_of(frame: Frame, node: ast.expr) -> Class | None:
    """The class of the object whose part `object.part` names."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    owner = frame.env.get(node.value.id)
    return owner.cls if isinstance(owner, Instance) else None
