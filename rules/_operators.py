"""Which feature of the language an operator shows, by its name in the facts: who answers it, and what it meets."""

from __future__ import annotations

import ast
from typing import Final

from tclint.events import Event, Operation
from tclint.rules._keys import as_key
from tclint.rules._language import ENUMERATION, has, is_enum, of_class, part_of_dict
from tclint.torch_facts import features
from tclint.values import ARRAY, NAMED, ClassValue, Const, External, Instance, Object, Scalar, Seq, Value, tensor_of
from tclint.values.operators import METHODS


def of_operation(event: Operation) -> str | None:
    """What an operator asks an object of the program."""
    for side in (event.left, event.right):
        if isinstance(side, External) and (found := _of_external(event, side)):
            return found
    if isinstance(event.node, (ast.BinOp, ast.Compare)) and (found := _of_view(event, event.node)):
        return found
    method = METHODS.get(event.operator, "")
    written = isinstance(event.node, ast.AugAssign)
    sides = ((event.left, event.right, ("i", "") if written else ("",)), (event.right, event.left, ("r",)))
    for value, other, marks in sides:
        if method and isinstance(value, Instance):
            mark = next((mark for mark in marks if has(event, value, f"__{mark}{method}__")), None)
            if mark is not None and isinstance(event.node, ast.Compare):
                return _of_comparison(event, value, other) or f"__{mark}{method}__"
            if mark is not None:
                return _WITH_TENSOR[mark] if _meets(event, value, other) else f"__{mark}{method}__"
            if has(event, value, "__eq__") and _orders_totally(event, value):
                return "comparison by functools.total_ordering"
            if isinstance(other, Instance) and has(event, other, f"__{_MIRRORED.get(event.operator)}__"):
                return "order of two objects by the other's method"
    if event.operator == "key" and isinstance(event.left, Seq) and event.left.kind == "frozenset":
        return "frozenset as a key"
    if event.operator in ("key", "member") and isinstance(event.left, Instance):
        return as_key(event, event.left)
    if event.operator in ("In", "NotIn") and event.right.python_type == "int":
        return "member of a flag"  # no other number can be asked
    if event.operator in ("In", "NotIn") and isinstance(event.right, ClassValue):
        return (
            f"member of an {ENUMERATION}" if is_enum(event, event.right) else of_class(event, event.right, "contains")
        )
    if event.operator in ("In", "NotIn") and isinstance(event.right, Instance):
        if has(event, event.right, "__contains__"):
            return "__contains__"
        given = _operand(event.node, right=True)
        below = event.ask.external_base(event.right.cls)  # it may have an answer that needs no walk
        who = event.ask.below(event.right, given) if below else event.ask.walked(event.right, given)
        return f"member of {who}" if who else None
    return _of_below(event)


_MIRRORED: Final = {"Lt": "gt", "Gt": "lt", "LtE": "ge", "GtE": "le"}


def _of_comparison(event: Operation, value: Instance, other: Value | None) -> str:
    """A comparison of an object that has a method for it: with a number, a tensor, or another object."""
    what = "order of" if event.operator not in ("Eq", "NotEq") else "comparison of"
    joined = "and" if what == "order of" else "with"
    if _meets(event, value, other):
        return f"{what} an object {joined} a tensor"
    if isinstance(other, (Const, Scalar)):
        return f"{what} an object {joined} a number"
    return f"{what} two objects" if isinstance(other, Instance) else ""


def _operand(node: ast.AST, right: bool) -> ast.expr | None:
    """The expression on one side of an operator."""
    if isinstance(node, ast.Compare):
        return node.comparators[0] if right else node.left
    if isinstance(node, ast.BinOp):
        return node.right if right else node.left
    return None


def _of_below(event: Operation) -> str | None:
    """An operator that the class below that of an object answers."""
    for value, other, right in ((event.left, event.right, False), (event.right, event.left, True)):
        method = METHODS.get(event.operator, "")
        who = event.ask.below(value, _operand(event.node, right), f"__{method}__", f"__r{method}__")
        if who and event.operator in _COMPARES:
            return f"{'equality' if event.operator in ('Eq', 'NotEq') else 'order'} of {who}"
        if who and isinstance(event.node, ast.BinOp):
            return f"operator with a tensor on {who}" if tensor_of(other) is not None else f"operator on {who}"
    return None


_WITH_TENSOR: Final = {
    "": "operator with a tensor",
    "r": "reflected operator with a tensor",
    "i": "operator in place with a tensor",
}


def _meets(event: Operation, value: Instance, other: Value | None) -> bool:
    """`object + tensor`: Dynamo takes the operator for the tensor's, and cannot hand the object to the graph."""
    tensor = tensor_of(other) if other is not None else None
    if tensor is None or tensor.conf <= NAMED or tensor.flags & ARRAY:
        return False
    written = isinstance(event.node, (ast.BinOp, ast.AugAssign, ast.Compare))
    # One with a base outside the program may be what that base is; torch itself asks `__torch_function__`.
    return written and not event.ask.external_base(value.cls) and not has(event, value, "__torch_function__")


def of_comparison(event: Operation) -> str | None:
    """A comparison of an object of a class outside the program, where that was asked of torch."""
    sides = [side for side in (event.left, event.right) if isinstance(side, Object)]
    if not sides or not (event.operator in _COMPARES or isinstance(event.node, ast.Compare)):
        return None
    name = f"comparison of a {sides[0].name}"
    return name if event.operator not in ("In", "NotIn") and name in features.table().features else None


_COMPARES: Final = frozenset({"Eq", "NotEq", "Lt", "LtE", "Gt", "GtE"})


def _of_external(event: Operation, value: External) -> str:
    """`"PATH" in os.environ`."""
    return f"member of {value.name}" if event.operator in ("In", "NotIn") and event.right is value else ""


def _of_view(event: Operation, node: ast.BinOp | ast.Compare) -> str:
    """An operator on the keys, values or items of a dict."""
    if isinstance(node, ast.BinOp):
        part = part_of_dict(event, node.left)
        return f"operator on the {part} of a dict" if part else ""
    part = part_of_dict(event, node.comparators[0]) if event.operator in ("In", "NotIn") else ""
    return f"member of the {part} of a dict" if part else ""


def _orders_totally(event: Event, value: Instance) -> bool:
    made = (
        (event.ask.evaluate(each) for each in value.cls.node.decorator_list) if value.cls.module is event.module else ()
    )
    return any(isinstance(each, External) and each.name == "functools.total_ordering" for each in made)
