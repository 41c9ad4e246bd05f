"""What `id()` gives."""

from __future__ import annotations

import ast

from tclint.interpreter.frame import Frame
from tclint.interpreter.models.functions import Args, Keywords
from tclint.values import INPUT, INT, NAMED, PARAMETER, Scalar, Value, tensor_of


def identity(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    """A number; that of a tensor which the region makes stands for nothing that is there when the graph runs."""
    tensor = tensor_of(args[0]) if args and frame.region is not None else None
    made = tensor is not None and tensor.conf > NAMED and not tensor.flags & (INPUT | PARAMETER)
    return Scalar("int", "id", frame.origin(node)) if made else INT
