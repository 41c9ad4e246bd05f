"""Subscripts."""

from __future__ import annotations

import ast
import operator

from tclint import events
from tclint.interpreter import assigned, bindings, exceptions
from tclint.interpreter.evaluate import evaluate, handles
from tclint.interpreter.frame import Frame
from tclint.values import (
    NAMED,
    UNKNOWN,
    USED,
    Const,
    Dict,
    Scalar,
    Seq,
    Tensor,
    Union,
    Value,
    join_all,
)
from tclint.values.constant import is_none
from tclint.values.tensor import by_name


def _subscript(frame: Frame, node: ast.Subscript) -> Value:
    receiver = evaluate(frame, node.value)
    index = evaluate(frame, node.slice)
    if receiver is UNKNOWN and frame.region is not None and _is_of_arrays(frame, node):
        receiver = Tensor(USED, "", -1, 0, frame.origin(node.value))
    if type(receiver) is Tensor and frame.region is not None and type(index) is not Tensor:
        index = _with_masks(frame, node.slice, index)
    value = subscript(frame, node, receiver, index)
    if frame.capturing and frame.region is None and isinstance(index, Const) and type(receiver) is not Tensor:
        for place in bindings.entries(frame, node.value, index.value):
            frame.interp.recordings.read(frame, place, node, value)
    return value


def subscript(frame: Frame, node: ast.AST, receiver: Value, index: Value) -> Value:
    """The value of `receiver[index]`, told to the rules for each thing that the receiver may be."""
    if type(receiver) is Union:
        options = [o for o in receiver.options if not is_none(o)]
        if isinstance(index, Tensor) and any(o is UNKNOWN or type(o) is Tensor for o in options):
            # Who indexes with a tensor indexes a tensor, not the tuple that it might be as well.
            options = [o for o in options if not isinstance(o, Seq)]
        return join_all([subscript(frame, node, o, index) for o in options])
    receiver = by_name(receiver, index)
    if receiver is UNKNOWN and _is_mask(index):
        receiver = Tensor(USED, "", -1, 0, frame.origin(node))
    result = receiver.item(frame, node, index)
    if frame.region is not None and isinstance(index, Const):
        if type(receiver) is Dict and _missing(receiver, index):
            exceptions.fails(frame, node, "key that a dict has not")
        elif type(receiver) is Seq and _beyond(receiver, index):
            exceptions.fails(frame, node, "index that a sequence has not")
    if type(receiver) is not Tensor:  # a tensor tells it itself: it knows better what the index is
        frame.interp.emitter.emit(events.Subscript, frame, node, receiver, index, result)
    return result


def _is_mask(index: Value) -> bool:
    """Whether an index surely is, or holds, a mask: what it selects from is a tensor, whoever made it."""
    parts = index.items if isinstance(index, Seq) and index.kind == "tuple" and index.items else (index,)
    return any(isinstance(p, Tensor) and p.dtype == "b" and p.conf > NAMED and p.ndim != 0 for p in parts)


def _is_of_arrays(frame: Frame, node: ast.Subscript) -> bool:
    """Whether only an array takes such an index: `edges[:, keep]`, `y[y > 0]`."""
    if isinstance(node.slice, ast.Tuple):
        return any(isinstance(each, ast.Slice) for each in node.slice.elts)
    if not isinstance(node.slice, ast.Compare):
        return False
    return ast.dump(node.slice.left) == ast.dump(node.value) and _compares(frame, node.slice)


def _with_masks(frame: Frame, node: ast.expr, index: Value) -> Value:
    """What a tensor is indexed with, where only how it was made is known: `x[batch == i]` compares element by element."""
    if isinstance(node, ast.Tuple) and isinstance(index, Seq) and index.items is not None:
        if len(index.items) != len(node.elts):
            return index
        parts = [_with_masks(frame, each, item) for each, item in zip(node.elts, index.items, strict=True)]
        return Seq(index.kind, tuple(parts)) if any(map(operator.is_not, parts, index.items)) else index
    unknown = index is UNKNOWN or type(index) is Scalar and index.python_type == "bool"
    return Tensor(USED, "b", -1, 0, frame.origin(node)) if unknown and _compares(frame, node) else index


def _compares(frame: Frame, node: ast.expr) -> bool:
    """Whether an expression compares two things, or combines what does; a name is what it was bound to."""
    if isinstance(node, ast.Name) and frame.function is not None:
        bound = assigned.seen(frame.function, node, node.id)
        made = bound.value if isinstance(bound, assigned.Binding) else None
        return made is not None and not isinstance(made, ast.Name) and _compares(frame, made)
    if isinstance(node, ast.Compare):
        return not isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Invert) and _compares(frame, node.operand)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
        return _compares(frame, node.left) or _compares(frame, node.right)
    return False


def _missing(receiver: Dict, index: Const) -> bool:
    """Whether a dict surely has no such key."""
    return receiver.elem is None and receiver.kind == "dict" and index.value not in receiver.items


def _beyond(receiver: Seq, index: Const) -> bool:
    """Whether a list or tuple surely ends before."""
    if receiver.items is None or receiver.kind not in ("list", "tuple") or not isinstance(index.value, int):
        return False
    return not -len(receiver.items) <= index.value < len(receiver.items)


handles(ast.Subscript, _subscript)
