"""On which device compiled code makes a tensor, where it says so itself: `device="cpu"`, `.to("meta")`."""

from __future__ import annotations

import ast
from typing import Final

from tclint.interpreter import assigned
from tclint.interpreter.evaluate import evaluate
from tclint.interpreter.frame import Frame
from tclint.sources.tree import nodes
from tclint.torch_facts import devices, facts
from tclint.values import External, Tensor

_DEPTH: Final = 6
_MOVES: Final = facts.methods("moves a tensor to the device it is told")


def mixed(frame: Frame, statement: ast.stmt) -> ast.expr | None:
    """The first operation of a statement on tensors of two kinds of devices; one that is a single number goes with any other."""
    with frame.interp.emitter.silence:
        for node in nodes(statement):
            if isinstance(node, (ast.BinOp, ast.Call)):
                found = {_device(frame, each) for each in _operands(frame, node) if _has_dimensions(frame, each)}
                if len(found - {""}) > 1:
                    return node
    return None


def _operands(frame: Frame, node: ast.BinOp | ast.Call) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    called = evaluate(frame, node.func)
    if not isinstance(called, External) or not called.name.startswith("torch."):
        return []
    return [part for each in node.args for part in (each.elts if isinstance(each, (ast.List, ast.Tuple)) else [each])]


def _has_dimensions(frame: Frame, node: ast.expr) -> bool:
    value = evaluate(frame, node)
    return isinstance(value, Tensor) and value.ndim > 0


def _device(frame: Frame, node: ast.expr, depth: int = _DEPTH) -> str:
    """The kind of device; nothing where the expression does not say it."""
    if isinstance(node, ast.Name) and frame.function is not None and depth:
        bound = assigned.seen(frame.function, node, node.id)
        if isinstance(bound, assigned.Binding) and bound.value is not None:
            return _device(frame, bound.value, depth - 1)
    if not isinstance(node, ast.Call):
        return ""
    given = [each.value for each in node.keywords if each.arg == "device"]
    if isinstance(node.func, ast.Attribute) and node.func.attr in _MOVES:
        given += node.args[:1] or ([ast.Constant(node.func.attr)] if node.func.attr in devices.KNOWN else [])
    kinds = [
        each.value.partition(":")[0] for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]
    return kinds[0] if len(kinds) == len(given) == 1 and kinds[0] in devices.KNOWN else ""
