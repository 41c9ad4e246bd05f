"""Objects of the program whose protocols a function written in C answers: `__len__ = rows.__len__` in the body of a class."""

from __future__ import annotations

import ast
import builtins

from tclint.events import Branch, Call, Event, Loop, Operation, Subscript
from tclint.values import Instance, Value

FEATURE = "protocol that a function written in C answers"


def of_call(event: Call) -> str | None:
    """`len(object)`, `bool(object)` and their like."""
    value = event.args[0] if len(event.args) == 1 and event.name.startswith("builtins.") else None
    return _told(event, value, f"__{event.method}__")


def of_branch(event: Branch) -> str | None:
    return _told(event, event.test, "__bool__", "__len__")


def of_loop(event: Loop) -> str | None:
    return _told(event, event.iterable, "__iter__")


def of_item(event: Subscript) -> str | None:
    return _told(event, event.receiver, "__getitem__")


def of_operation(event: Operation) -> str | None:
    return _told(event, event.right, "__contains__") if event.operator in ("In", "NotIn") else None


def _told(event: Event, value: Value | None, *methods: str) -> str | None:
    if not isinstance(value, Instance):
        return None
    return FEATURE if any(_is_of_value(value.cls.node, method) for method in methods) else None


def _is_of_value(cls: ast.ClassDef, method: str) -> bool:
    """Whether the body of a class binds a method to one of a value: of a display, a constant, or what a builtin makes."""
    for each in cls.body:
        if isinstance(each, ast.Assign) and any(isinstance(t, ast.Name) and t.id == method for t in each.targets):
            owner = each.value.value if isinstance(each.value, ast.Attribute) else None
            if isinstance(owner, (ast.List, ast.Dict, ast.Set, ast.Tuple, ast.Constant)):
                return True
            made = owner.func if isinstance(owner, ast.Call) else None
            return isinstance(made, ast.Name) and isinstance(getattr(builtins, made.id, None), type)
    return False
