"""What `id()` gives."""

from __future__ import annotations

import ast

from tclint.events import asked
from tclint.interpreter.frame import Frame
from tclint.interpreter.models.functions import Args, Keywords
from tclint.values import INPUT, INT, NAMED, PARAMETER, Dict, Scalar, Seq, Value, tensor_of


def identity(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    """A number; that of a tensor or a container which the region makes stands for nothing that is there when the graph runs."""
    tensor = tensor_of(args[0]) if args and frame.region is not None else None
    made = tensor is not None and tensor.conf > NAMED and not tensor.flags & (INPUT | PARAMETER)
    if frame.region is not None and isinstance(node, ast.Call) and node.args and isinstance(args[0], (Seq, Dict)):
        made = asked.is_held(frame, node.args[0]) is False
    return Scalar("int", "id", frame.origin(node)) if made else INT
