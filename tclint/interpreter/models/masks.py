"""Which of the things that a tensor is indexed with are masks."""

from __future__ import annotations

import ast
import re
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.sources.tree import ancestors
from tclint.values import USED, Seq, Tensor, Value, tensor_of

_MASK_NAME: Final = re.compile(r"(^|_)masks?($|_)")


def of(part: Value) -> Tensor | None:
    """A tensor of Booleans."""
    tensor = tensor_of(part)
    return tensor if tensor is not None and tensor.dtype == "b" else None


def taken(frame: Frame, node: ast.AST, tensor: Tensor, mask: Tensor, result: Tensor) -> Tensor:
    """What eager code takes with a mask: nobody knows how many rows, but as many others each time as the mask is made anew."""
    if frame.region is not None or not isinstance(tensor.shape, tuple) or not isinstance(mask.shape, tuple):
        return result
    if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Tuple) or not mask.shape:
        return result
    told = result.with_(shape=(None, *tensor.shape[len(mask.shape) :]), exact=tensor.exact)
    return told.with_(varied=frozenset({0})) if _made_anew(frame, node, mask) else told


def _made_anew(frame: Frame, node: ast.AST, mask: Tensor) -> bool:
    """Whether a mask is made in the turn of a loop, or in the call of a function, that takes something with it."""
    around = [each for each in ancestors(frame.module.tree, node) if isinstance(each, _TURNS)]
    line, last = (
        getattr(around[-1], "lineno", 0) if around else 0,
        getattr(around[-1], "end_lineno", 0) if around else 0,
    )
    return mask.origin.path == frame.module.path and line < mask.origin.line <= last


_TURNS: Final = (ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ListComp, ast.DictComp)


def named(node: ast.expr, value: Value) -> Tensor | None:
    """A tensor of which only its name says that it is a mask."""
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    values = value.items if isinstance(node, ast.Tuple) and isinstance(value, Seq) and value.items else (value,)
    for part, inner in zip(nodes, values, strict=False):
        tensor = tensor_of(inner)
        base = part.value if isinstance(part, ast.Subscript) else part
        name = base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else ""
        if tensor is not None and not tensor.dtype and tensor.ndim != 0 and _MASK_NAME.search(name):
            return tensor.with_(dtype="b", conf=min(tensor.conf, USED))
    return None
