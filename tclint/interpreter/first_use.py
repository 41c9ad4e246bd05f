"""Where a value is used that Dynamo carries along and cannot use."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tclint.sources.tree import own

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame


def use_of(frame: Frame, node: ast.AST) -> tuple[Frame, ast.AST] | None:
    """The expression that works with the value of another one: what a function returns is used by its caller.

    None where that is not to be seen: a value that is given a name, or handed over to a function.
    """
    while frame.function is not None:
        around = _around(frame.function.node, node)
        if not isinstance(around, ast.Return):
            named = isinstance(around, (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.keyword, ast.Expr))
            given = isinstance(around, ast.Call) and around.func is not node
            return None if around is None or named or given else (frame, node)
        caller, call = frame.parent, frame.call_node
        if caller is None or call is None:
            return None
        frame, node = caller, call
    return None


def _around(function: ast.AST, node: ast.AST) -> ast.AST | None:
    for each in own(function):
        if any(child is node for child in ast.iter_child_nodes(each)):
            return each
    return None
