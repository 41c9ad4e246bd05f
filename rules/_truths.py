"""Python's questions about a tensor's truth or contents, asked of the tensor: what TCL101 offers for `bool` and `in`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tclint.fixes.places import FunctionNode, Place
from tclint.model.finding import Applicability, Fix
from tclint.rules._conditions import truth_only
from tclint.values import Tensor

if TYPE_CHECKING:
    from tclint.events import Event, Operation


def without_bool(event: Event, dtype: str) -> Fix | None:
    """`bool(t)` where a tensor does as well: in tests, in arithmetic, under a name that is only read there."""
    place = Place(event)
    node = place.node
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords or not truth_only(place):
        return None
    outer = [n for n in place.chain if not isinstance(n, ast.BoolOp) and not _is_not(n)]
    if isinstance(place.parent, (ast.BoolOp, ast.UnaryOp)) and not isinstance(
        outer[-1], (ast.If, ast.IfExp, ast.Assert)
    ):
        return None  # Python still asks, and nobody can select
    value = node.args[0]
    if isinstance(value, ast.BoolOp) or _is_not(value):
        return None  # Python asks each part
    if isinstance(place.parent, ast.Return) and _is_special(place.function):
        return None  # `x in self`, `if self`: Python asks for the truth of what comes back
    text = place.operand(value) if dtype == "b" else f"({place.operand(value)} != 0)"
    if isinstance(place.parent, ast.Return) and dtype == "b" and "\n" not in text:
        text = place.source(value)
    note = "the value is then a tensor, not a Python bool"
    return Fix("keep the tensor", Applicability.UNSAFE, (place.replace(node, text),), note)


def _is_not(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _is_special(function: FunctionNode | None) -> bool:
    """Whether Python itself calls a method: `__contains__`, `__bool__`, `__eq__`."""
    name = function.name if function is not None else ""
    return name.startswith("__") and name.endswith("__") and name != "__call__"


def contains_fix(event: Operation) -> Fix | None:
    """`3 in ids` on a tensor, `index in [1, 3]` for a tensor."""
    place = Place(event)
    node = place.node
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return None
    listed = place.source(node.comparators[0])
    if not isinstance(event.right, Tensor):
        # A list of numbers: a tensor of them, where the value is.
        torch = place.importing("torch")
        if torch is None or torch[1] or not isinstance(node.left, (ast.Name, ast.Attribute)):
            return None
        listed = f"{torch[0]}.as_tensor({listed}, device={place.source(node.left)}.device)"
    elif place.operand(node.comparators[0]) != listed:
        listed = f"({listed})"
    text = f"({listed} == {place.operand(node.left)}).any()"
    if isinstance(node.ops[0], ast.NotIn):
        text = f"~{text}"
    note = "the value is then a tensor, not a Python bool"
    return Fix("compare all elements at once", Applicability.UNSAFE, (place.replace(node, text),), note)
