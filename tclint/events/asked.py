"""Who is asked when Python itself asks an object of the program, as the facts name it: `an object`, `an object with __getitem__`,
`an object below builtins.dict that is held`.

What an object below a class of Python's own does depends on where it was made: Dynamo knows one that the region makes, and sees
one that comes from outside as an object like any other.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

from tclint.sources.tree import by_kind
from tclint.values import Instance, Tensor, Value, spoken_of, tensor_of

if TYPE_CHECKING:
    from tclint.events.queries import Frame
    from tclint.program import Class, Function

_DISPATCHES: Final = "__torch_function__"


def walked(frame: Frame, value: Value, node: ast.AST | None) -> str:
    """Who is gone through: by its `__iter__`, by its `__getitem__`, or by what the class below it does; or nothing."""
    if not isinstance(value, Instance):
        return ""
    find = frame.interp.classes.find_method
    if find(value.cls, "__iter__") is not None:
        return "an object"
    if value.fields is not None:
        return ""
    if find(value.cls, "__getitem__") is not None and not frame.interp.classes.external_base(value.cls):
        return "an object with __getitem__"
    return below(frame, value, node)


def below(frame: Frame, value: Value, node: ast.AST | None, *methods: str) -> str:
    """Which object below a class outside the program answers, where its own class has none of the methods; or nothing."""
    if not isinstance(value, Instance) or value.fields is not None or node is None:
        return ""
    classes = frame.interp.classes
    base = classes.external_base(value.cls)
    if not base or classes.is_nn_module(value.cls) or any(classes.find_method(value.cls, m) for m in methods):
        return ""
    held = is_held(frame, node)
    return "" if held is None else f"an object below {base} that is {'held' if held else 'made here'}"


def subclass(frame: Frame, value: Value | None) -> Class | None:
    """The class of the program that a tensor is of, where `__torch_function__` runs for it: not switched off, no `__torch_dispatch__`."""
    tensor = tensor_of(value) if value is not None else None
    classes = frame.interp.classes
    if tensor is None or tensor.cls is None or classes.external_base(tensor.cls) != "torch.Tensor":
        return None
    written = any(_DISPATCHES in each.assignments for each in classes.mro(tensor.cls))
    return None if written or classes.find_method(tensor.cls, "__torch_dispatch__") is not None else tensor.cls


def number(frame: Frame, value: Value) -> str:
    """What an object of the program is called that can stand for a whole number, and for nothing else to torch; or nothing."""
    if not isinstance(value, Instance) or frame.interp.classes.external_base(value.cls):
        return ""
    find = frame.interp.classes.find_method
    plain = find(value.cls, "__index__") is not None and find(value.cls, _DISPATCHES) is None
    return "an object with __index__" if plain else ""


def refuses(frame: Frame, value: Value) -> bool:
    """Whether an object says to every function of torch that it is not for it."""
    method = frame.interp.classes.find_method(value.cls, _DISPATCHES) if isinstance(value, Instance) else None
    given = [each.value for each in ast.walk(method.node) if isinstance(each, ast.Return)] if method is not None else []
    return bool(given) and all(isinstance(each, ast.Name) and each.id == "NotImplemented" for each in given)


def is_held(frame: Frame, node: ast.AST) -> bool | None:
    """Whether what an expression names was made before the region is entered; None where that is not to be seen."""
    found = source(frame, node)
    return None if not found else found != "made"


def source(frame: Frame, node: ast.AST) -> Literal["made", "held", "given", ""]:
    """Where what an expression names comes from: the region has made it; what the region is a part of, or the file, holds it; who
    calls the region gives it, perhaps another one with each call. Nothing where that is not to be seen."""
    at: Frame | None = frame
    while at is not None and at.function is not None:
        while isinstance(node, ast.Subscript):
            node = node.value
        if isinstance(node, ast.Attribute):
            kept = node.attr not in at.function.index(_stores) and not _is_computed(at, node)
            return "held" if kept else ""
        if isinstance(node, ast.Call):
            return "made"
        if not isinstance(node, ast.Name):
            return ""
        if node.id in at.function.stored_names():
            return "made"
        if node.id not in at.function.bound_names():
            return "held" if at.module.named(node.id) is not None else ""
        parent, call = at.parent, at.call_node
        crossed = parent is None or parent.region is None or parent.function is None or call is parent.function.node
        if crossed or parent is not None and parent.call_node is call:
            own = at.function.cls is not None and _first(at.function) == node.id
            return "held" if own else "given"  # whoever calls the region hands it in
        given = _given(at.function, call, node.id)
        if given is None:
            return ""
        at, node = parent, given
    return ""


def _first(function: Function) -> str:
    arguments = function.node.args
    return next((each.arg for each in (*arguments.posonlyargs, *arguments.args)), "")


def _is_computed(frame: Frame, node: ast.Attribute) -> bool:
    """Whether a property answers, which may make what it gives each time that it is asked."""
    owner = frame.interp.evaluate_silently(frame, node.value)
    find = frame.interp.classes.find_method
    return any(isinstance(each, Instance) and find(each.cls, node.attr) is not None for each in owner.options)


def _given(function: Function, call: ast.AST | None, name: str) -> ast.expr | None:
    """The expression that a call gives for a parameter: of a method's first one, the object it is asked of."""
    arguments = function.node.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    if function.cls is not None and names[:1] == [name]:
        if isinstance(call, (ast.Attribute, ast.Subscript)):
            return call.value  # a property, or `__getitem__`
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and function.name[:2] != "__":
            return call.func.value
        return None
    if not isinstance(call, ast.Call):
        return None
    if function.cls is not None:
        # `Base.update(self, x)` says who is meant in its arguments.
        if not isinstance(call.func, ast.Attribute) or call.args and _is_name(call.args[0], names[:1]):
            return None
        names = names if _is_static(function) else names[1:]
    # Behind `*more` nobody knows which is which.
    args = itertools.takewhile(lambda each: not isinstance(each, ast.Starred), call.args)
    given = dict(zip(names, args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg is not None}
    return given.get(name)


def _is_name(node: ast.expr, names: Sequence[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _is_static(function: Function) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in function.decorators)


def _stores(function: Function) -> frozenset[str]:
    """The attributes that a function writes."""
    return frozenset(each.attr for each in by_kind(function.node)[ast.Attribute] if isinstance(each.ctx, ast.Store))


def subject(value: Value) -> Tensor | None:
    """The tensor a rule speaks about: the value itself, or the tensor option of a union.

    What may as well be a number is unknown: a finding about it is told at low confidence only.
    """
    return spoken_of(value)
