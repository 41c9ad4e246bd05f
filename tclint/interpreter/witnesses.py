"""What nobody knows, told by what the function does with it: of the result of a foreign layer `h.permute(0, 2, 1)` says that it is a tensor."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Final

from tclint.interpreter import assigned
from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.interpreter.parameters import ARRAYS, TENSOR_ONLY
from tclint.interpreter.spoken_names import asked_names, joined_name
from tclint.program import Function
from tclint.sources.tree import own_by_kind
from tclint.torch_facts import facts, layouts, returns
from tclint.torch_facts.kind import MAPPING_METHODS
from tclint.values import USED, Tensor, Value, tensor_of

_SIZES: Final = facts.methods("gives a size")
"""An array has some of these, too, but not to be called."""
_LENGTHS: Final = frozenset(facts.named("is an attribute of tensors alone"))
_ASKING: Final = frozenset(each.__name__ for each in (isinstance, hasattr, getattr, type, callable, issubclass))
_OF_CONTAINERS: Final = frozenset(name for kind in (list, dict, str) for name in dir(kind))
_ABOUT: Final = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
_Read = tuple[ast.Name, bool]
"""A read of a name as only tensors are used, or as arrays are, too."""
_Place = tuple[str, int, int]
"""A name, and where the statement that binds it begins."""


@dataclass(frozen=True, slots=True)
class _Witnesses:
    """The bindings whose values are used as only tensors are, and those used as tensors and arrays are."""

    tensors: frozenset[_Place]
    arrays: frozenset[_Place]


def seen(frame: Frame, name: str, value: Value, statement: ast.AST) -> Value:
    """What a value that nobody knows, or only a name speaks of, is once a statement has bound it to a name."""
    function = frame.function
    if function is None or name not in function.node_index(_used):
        return value
    told = function.index(_witnesses)
    place = (name, getattr(statement, "lineno", 0), getattr(statement, "col_offset", 0))
    if place in told.tensors or place in told.arrays and is_made_of_tensors(frame, getattr(statement, "value", None)):
        return value.with_(conf=USED) if isinstance(value, Tensor) else Tensor(USED, "", -1, 0, frame.origin(statement))
    return value


def is_made_of_tensors(frame: Frame, node: ast.AST | None) -> bool:
    """Whether an object is called with a tensor: a layer, in all likelihood, and what layers give is no array."""
    if not isinstance(node, ast.Call) or isinstance(node.func, ast.Call):
        return False
    with frame.interp.emitter.silence:
        return any(tensor_of(evaluate(frame, each)) is not None for each in node.args[:1])


def _used(root: ast.AST) -> dict[str, list[_Read]]:
    """The reads of each local name that speak for a tensor; none of a name that is asked what it is, or used as something else."""
    found: dict[str, list[_Read]] = {}
    contrary: set[str] = set()
    there = own_by_kind(root)
    for read in there[ast.Attribute]:
        if isinstance(read.value, ast.Name):
            if read.attr in TENSOR_ONLY:
                found.setdefault(read.value.id, []).append((read.value, read.attr in _LENGTHS))
            elif read.attr in MAPPING_METHODS or not returns.is_of_tensors(read.attr):
                contrary.add(read.value.id)
    for call in there[ast.Call]:
        _called(call, found, contrary)
    for product in there[ast.BinOp]:
        if isinstance(product.op, ast.MatMult):
            for side in (product.left, product.right):
                if isinstance(side, ast.Name):
                    found.setdefault(side.id, []).append((side, True))
    for item in there[ast.Subscript]:
        key, held = item.slice, item.value
        if isinstance(held, ast.Name) and isinstance(key, ast.Constant) and isinstance(key.value, str):
            contrary.add(held.id)
        elif isinstance(held, ast.Name) and isinstance(key, ast.Tuple):
            plain = not any(isinstance(each, ast.Slice) for each in key.elts)
            found.setdefault(held.id, []).append((held, plain))
    for kind in (ast.If, ast.While, ast.IfExp, ast.Assert):
        for asking in there[kind]:
            contrary |= asked_names(asking.test)
    for compared in there[ast.Compare]:
        if isinstance(compared.left, ast.Name) and isinstance(compared.ops[0], _ABOUT):
            contrary.add(compared.left.id)
    return {name: reads for name, reads in found.items() if name not in contrary}


def _called(node: ast.Call, found: dict[str, list[_Read]], contrary: set[str]) -> None:
    func = node.func
    first = node.args[0] if node.args else None
    if isinstance(func, ast.Name) and func.id in _ASKING and isinstance(first, ast.Name):
        contrary.add(first.id)
    if isinstance(func, ast.Name) and isinstance(func.ctx, ast.Load):
        contrary.add(func.id)  # a tensor is not called
    if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
        return
    held = func.value
    if func.attr in _SIZES or func.attr in ARRAYS or any(keyword.arg == "dim" for keyword in node.keywords):
        found.setdefault(held.id, []).append((held, False))
    elif func.attr not in _OF_CONTAINERS and returns.kind(f"tensor#{func.attr}") == "tensor":
        found.setdefault(held.id, []).append((held, True))
    if held.id not in ("torch", "F"):
        return
    if isinstance(first, ast.Name) and returns.takes_tensor(func.attr):
        found.setdefault(first.id, []).append((first, False))
    elif isinstance(first, (ast.List, ast.Tuple)) and f"{held.id}.{func.attr}" in layouts.JOINS:
        for each in first.elts:
            if isinstance(each, ast.Name) and joined_name(each):
                found.setdefault(each.id, []).append((each, False))


def _witnesses(function: Function) -> _Witnesses:
    tensors: set[_Place] = set()
    arrays: set[_Place] = set()
    for name, reads in function.node_index(_used).items():
        for read, either in reads:
            for binding in assigned.reaching(function, read, name):
                place = (name, binding.statement.lineno, binding.statement.col_offset)
                (arrays if either else tensors).add(place)
    return _Witnesses(frozenset(tensors), frozenset(arrays))
