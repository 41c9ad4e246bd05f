"""Which of the things that a tensor is indexed with are masks."""

from __future__ import annotations

import ast
import re
from typing import Final

from tclint.values import USED, Seq, Tensor, Value, tensor_of

_MASK_NAME: Final = re.compile(r"(^|_)masks?($|_)")


def of(part: Value) -> Tensor | None:
    """A tensor of Booleans."""
    tensor = tensor_of(part)
    return tensor if tensor is not None and tensor.dtype == "b" else None


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
