"""Enumerations of the program: their members, and which of them a call or an index gives."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tclint.program import Assignment, Class
from tclint.values import UNKNOWN, Const, External, Instance, Member, Seq, Value, join_all

if TYPE_CHECKING:
    from tclint.interpreter.frame import Frame
    from tclint.interpreter.machine import Interpreter

_MOST: Final = 8
"""So many members are told apart where any of them is possible."""
_KINDS: Final = ("Enum", "Flag")
_PLAIN: Final = frozenset(f"builtins.{kind.__name__}" for kind in (str, int, float))


def is_enumeration(interp: Interpreter, cls: Class) -> bool:
    """Whether a class is made of members: `class Mode(Enum)`, `class Level(IntEnum)`."""
    return any(base.endswith(_KINDS) for base in _bases(interp, cls))


def member(frame: Frame, node: ast.AST, cls: Class, name: str, value: Value) -> Value:
    """The member that an assignment in the body of an enumeration makes."""
    if name.startswith("_") or value.is_code:
        return value
    interp = frame.interp
    held = _counted(interp, cls, name) if isinstance(_said(cls, cls.assignments[name]), ast.Call) else value
    made = any(interp.classes.find_method(cls, each) is not None for each in ("__new__", "__init__"))
    plain = held if isinstance(held, Const) and not made else held if isinstance(held, Seq) and not made else UNKNOWN
    return Member(cls, name, plain, _is_mixed(interp, cls), frame.origin(node))


def members(frame: Frame, node: ast.AST, cls: Class) -> list[Member]:
    """All members, in their order."""
    found = []
    for name, assignment in cls.assignments.items():
        value = frame.interp.classes.assigned(cls, assignment, name, frame, node)
        if isinstance(value, Member):
            found.append(value)
    return found


def any_member(frame: Frame, node: ast.AST, cls: Class) -> Value:
    """Some member, nobody knows which."""
    found = members(frame, node, cls)
    return join_all(found) if 0 < len(found) <= _MOST else Instance(cls)


def by_value(frame: Frame, node: ast.AST, cls: Class, value: Value) -> Value:
    """`Mode("fast")`, `Mode(Mode.FAST)`: the member with the value."""
    if isinstance(value, Member) and value.cls is cls:
        return value
    wanted = value.plain if isinstance(value, Member) else value
    if frame.interp.classes.find_method(cls, "_missing_") is not None or not isinstance(wanted, Const):
        return any_member(frame, node, cls)
    answers = {each: each.value.equals(wanted) for each in members(frame, node, cls)}
    found = next((each for each, same in answers.items() if same), None)
    return found if found is not None else any_member(frame, node, cls) if None in answers.values() else UNKNOWN


def by_name(frame: Frame, node: ast.AST, cls: Class, name: Value) -> Value:
    """`Mode["FAST"]`"""
    assignment = cls.assignments.get(name.value) if isinstance(name, Const) and isinstance(name.value, str) else None
    if assignment is None:
        return any_member(frame, node, cls)
    return frame.interp.classes.assigned(cls, assignment, name.value, frame, node)  # type: ignore[attr-defined]


def _bases(interp: Interpreter, cls: Class) -> list[str]:
    classes = interp.classes
    return [base.name for each in classes.mro(cls) for base in classes.bases(each) if isinstance(base, External)]


def _is_mixed(interp: Interpreter, cls: Class) -> bool:
    """Whether the members are texts or numbers as well."""
    told = ("StrEnum", "IntEnum", "IntFlag")
    return any(base in _PLAIN or base.endswith(told) for base in _bases(interp, cls))


def _counted(interp: Interpreter, cls: Class, name: str) -> Value:
    """What `auto()` stands for: the number after the last one, the next bit of flags, the name in small letters of texts."""
    bases = _bases(interp, cls)
    if interp.classes.find_method(cls, "_generate_next_value_") is not None or not _is_auto(
        _said(cls, cls.assignments[name])
    ):
        return UNKNOWN
    if any(base.endswith("StrEnum") for base in bases):
        return Const(name.lower())
    if any(base.endswith("Flag") for base in bases):
        return UNKNOWN
    last = 0
    for each, assignment in cls.assignments.items():
        said = _said(cls, assignment)
        if isinstance(said, ast.Constant) and type(said.value) is int:
            last = said.value
        elif _is_auto(said) and not each.startswith("_"):
            last += 1
        else:
            return UNKNOWN
        if each == name:
            return Const(last)
    return UNKNOWN


def _is_auto(said: ast.expr | None) -> bool:
    func = said.func if isinstance(said, ast.Call) and not said.args else None
    return getattr(func, "attr", getattr(func, "id", "")) == "auto"


def _said(cls: Class, assignment: Assignment) -> ast.expr | None:
    return getattr(cls.module.node(assignment.ordinal), "value", None)
