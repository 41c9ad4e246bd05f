"""Libraries that set themselves up at their first call: cuBLAS, cuDNN, cuSOLVER, cuFFT. A capture by hand does not allow that."""

from __future__ import annotations

import ast
import builtins
import functools
import sys
from collections.abc import Iterable
from typing import Final

from tclint.interpreter.frame import Frame
from tclint.program import Module
from tclint.sources.tree import nodes
from tclint.torch_facts import facts
from tclint.values import Const, Value

_SETS_UP: Final = facts.named("makes a handle of a library at its first call")
_KNOWN: Final = frozenset({"torch", "Tensor", "str", *sys.stdlib_module_names, *vars(builtins)})
"""Where calls come from of which the facts say all there is to say."""


@functools.cache
def may_set_up(name: str) -> bool:
    """Whether a call by this name makes a handle, or nobody knows what it does."""
    return name in _SETS_UP or name.partition(".")[0] not in _KNOWN


def use(frame: Frame, node: ast.AST, name: str, given: Iterable[Value] = ()) -> None:
    """Eager code calls something outside the program. What nobody knows may have called any of the libraries, unless it is
    given nothing but constants: a seed, a device, an option."""
    if name in _SETS_UP:
        frame.interp.recordings.use_library(frame, node, name)
    elif name.partition(".")[0] not in _KNOWN and not frame.capturing:
        given = tuple(given)
        if not given or not all(isinstance(value, Const) for value in given):
            frame.interp.recordings.use_library(frame, node, "")


def begins(node: ast.AST) -> ast.AST | None:
    """`torch.cuda.graph(g)` of a `with`, `g.capture_begin()`."""
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return node.items[0].context_expr
    func = node.func if isinstance(node, ast.Call) else None
    return node if isinstance(func, ast.Attribute) and func.attr == "capture_begin" else None


def is_part(root: Frame) -> bool:
    """Whether the walk began in a function that others call: what they have done before is not in sight."""
    return root.function is not None and root.function.name in root.module.index(_called)


def _called(module: Module) -> frozenset[str]:
    """The names of what a file calls, functions and methods."""
    called = (node.func for node in nodes(module.tree) if isinstance(node, ast.Call))
    named = (
        f.attr if isinstance(f, ast.Attribute) else f.id for f in called if isinstance(f, (ast.Attribute, ast.Name))
    )
    return frozenset(named)
