"""Methods that a class below defines anew: of an object that only an annotation tells, nobody knows which one runs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tclint.interpreter import heirs
from tclint.program import Class
from tclint.sources.tree import nodes
from tclint.values import BOOL, UNKNOWN, Const, Instance, Value

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.program import Function


def settled(frame: Frame, node: ast.AST, instance: Instance, name: str, result: Value) -> Value:
    """What a method of some object of a class gives: a constant only where no class below defines anew what it comes from."""
    if not isinstance(result, Const) or instance.context is not None or instance.identity or instance.fields:
        return result
    if _is_own(frame, node):
        return result
    names = _asked(frame, instance.cls, name)
    if any(
        not names.isdisjoint((*heir.methods, *heir.assignments)) for heir in heirs.below(frame.interp, instance.cls)
    ):
        return BOOL if isinstance(result.value, bool) else UNKNOWN
    return result


def _is_own(frame: Frame, node: ast.AST) -> bool:
    """Whether the object is the one whose method asks: it is entered as an object of that very class."""
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    if frame.function is None or frame.cls is None or not isinstance(owner, ast.Name):
        return False
    arguments = frame.function.node.args
    return owner.id in [each.arg for each in (*arguments.posonlyargs, *arguments.args)][:1]


def _asked(frame: Frame, cls: Class, name: str) -> set[str]:
    """A method, and what it reads of its object, however deep."""
    found: set[str] = set()
    left = [name]
    while left:
        asked = left.pop()
        method = frame.interp.classes.find_method(cls, asked) if asked not in found else None
        found.add(asked)
        if method is not None:
            left += method.index(_read_of_itself)
    return found


def _read_of_itself(function: Function) -> tuple[str, ...]:
    arguments = function.node.args
    first = [each.arg for each in (*arguments.posonlyargs, *arguments.args)][:1]
    read = (n for n in nodes(function.node) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name))
    return tuple(dict.fromkeys(n.attr for n in read if n.value.id in first))  # type: ignore[attr-defined]
