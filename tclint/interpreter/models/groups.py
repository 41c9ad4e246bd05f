"""What eager code sorts things into: `groupby`, and the dicts of the library."""

from __future__ import annotations

import ast
import itertools
from typing import Final

from tclint.interpreter import exceptions
from tclint.interpreter.frame import Frame
from tclint.interpreter.models.builtins import made_dict
from tclint.interpreter.models.functions import Args, Keywords
from tclint.values import UNKNOWN, Const, Dict, FunctionValue, Seq, Value
from tclint.values.value import TENSOR

_MOST: Final = 32
"""Items that are grouped one by one."""


def ordered(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    """`OrderedDict(…)`: a dict that knows its class."""
    made = made_dict(frame, node, args, keywords)
    return Dict(made.items, made.elem, "collections.OrderedDict")


def with_default(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    """`defaultdict(list)`: it makes what it lacks."""
    made = made_dict(frame, node, args[1:], keywords)
    missing = args[0] if args and not isinstance(args[0], (Const, Dict)) and args[0] is not UNKNOWN else None
    return Dict(made.items, made.elem, "collections.defaultdict", missing=missing)


def groupby(frame: Frame, node: ast.AST, args: Args, keywords: Keywords) -> Value:
    """Neighbours with the same key: each key is compared with the one before."""
    key = args[1] if len(args) > 1 else keywords.get("key")
    if not args:
        return UNKNOWN
    known = _neighbours(frame, node, args[0], key) if frame.region is None else None
    if known is not None:
        return known
    element = args[0].iterate(frame, node)
    if key is None or isinstance(key, Const):
        return Seq("list", None, Seq("tuple", (element, Seq("list", None, element))))
    raised = _last_raise(key) if frame.region is not None else None
    if raised is not None and exceptions.caught(frame):
        frame.interp.emitter.feature(frame, raised, "itertools.groupby with a key that fails")
    asked = key.call(frame, node, [element], {})
    if asked.rank == TENSOR:
        frame.interp.emitter.branch(frame, node, asked, called(node))
    return Seq("list", None, Seq("tuple", (asked, Seq("list", None, element))))


def _neighbours(frame: Frame, node: ast.AST, walked: Value, key: Value | None) -> Value | None:
    """The groups one by one, where eager code knows all items and their keys."""
    items = walked.known_items(frame)
    if items is None or len(items) > _MOST:
        return None
    keys = items if key is None or isinstance(key, Const) else [key.call(frame, node, [item], {}) for item in items]
    if not all(isinstance(each, Const) for each in keys):
        return None
    groups = itertools.groupby(zip(keys, items, strict=True), key=lambda pair: pair[0].key)
    made = [[*pairs] for _, pairs in groups]
    told = [Seq("tuple", (pairs[0][0], Seq("list", tuple(item for _, item in pairs)))) for pairs in made]
    return Seq("list", tuple(told))


def _last_raise(value: Value) -> ast.Raise | None:
    """The `raise` that a function of the program surely gets to: it does nothing else."""
    body = value.function.node.body if isinstance(value, FunctionValue) else []
    only = body[-1] if isinstance(body, list) and body else None
    plain = isinstance(body, list) and all(isinstance(each, (ast.Expr, ast.Assign)) for each in body[:-1])
    return only if plain and isinstance(only, ast.Raise) else None


def called(node: ast.AST) -> str:
    """What a call is called where it is written."""
    func = node.func if isinstance(node, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else "it"
