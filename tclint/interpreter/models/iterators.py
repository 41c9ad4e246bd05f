"""`iter` and `next`."""

from __future__ import annotations

import ast

from tclint.interpreter.frame import Frame
from tclint.interpreter.models.functions import Args, Keywords
from tclint.values import UNKNOWN, Seq, Value, join


def begun(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    return args[0] if args else UNKNOWN


def following(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    """The next item: the first one where it is walked from here on."""
    if args and isinstance(args[0], Seq) and args[0].items is not None and _is_begun_here(node, args[0]):
        return args[0].items[0] if args[0].items else args[1] if len(args) > 1 else UNKNOWN
    value = args[0].iterate(frame, node) if args else UNKNOWN
    return join(value, args[1]) if len(args) > 1 else value


def _is_begun_here(node: ast.AST, walked: Seq) -> bool:
    """Whether nobody can have taken an item before: `next(x for x in items if x > n)`, `next(iter(items))`."""
    given = node.args[0] if isinstance(node, ast.Call) and node.args else None
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Name) and given.func.id == "iter":
        return walked.kind in ("list", "tuple")
    return isinstance(given, ast.GeneratorExp)
