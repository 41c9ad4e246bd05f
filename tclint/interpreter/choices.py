"""One of several things that an expression may stand for, by what an object was built with: the class that a setting chose."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tclint.interpreter.frame import Frame
from tclint.program import Function
from tclint.sources.tree import turned
from tclint.values import CompileSite, External, Instance, Object, Value
from tclint.values.provided import Proviso


def choice(frame: Frame, node: ast.AST, option: Value, options: Sequence[Value]) -> Proviso | None:
    """What must be chosen for a call to run one of several things; None where all of them may run in turn."""
    if not frame.becomes_graph or not isinstance(node, ast.Call):
        return None
    func = node.func
    owner = func.value if isinstance(func, ast.Attribute) and not _is_self(func.value) else func
    name = _name(option)
    if not name or all(_name(each) == name for each in options):
        return None
    if not isinstance(owner, ast.Attribute) and not (isinstance(owner, ast.Name) and _is_chosen_once(frame, owner.id)):
        return None
    return Proviso(frame.module.path, owner.lineno, owner, True, name)


def compiled_choice(
    site: CompileSite, receiver: Value | None, roots: Sequence[tuple[Function, Value | None]]
) -> Proviso | None:
    """What must be chosen for a site that compiles one of several things, with the functions that it enters, to compile this one."""
    name = _name(receiver) if receiver is not None else ""
    if site.many or not name or all(each is None or _name(each) == name for _, each in roots):
        return None
    return Proviso(site.path, site.line, None, True, name)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _name(option: Value) -> str:
    """What people call it."""
    if isinstance(option, Instance):
        return option.cls.name
    return option.name if isinstance(option, External) else option.maker if isinstance(option, Object) else ""


def _is_chosen_once(frame: Frame, name: str) -> bool:
    """Whether a name is bound by no loop, which binds one after the other, and by no caller."""
    function = frame.function
    if function is None or name in function.node_index(turned):
        return False
    given = function.node.args
    return name not in {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
