"""Who builds the objects of a class: all files of the program are asked for it by its name."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from tclint.program import Class, Module, mentioning
from tclint.sources import roles
from tclint.sources.tree import kinds, nodes


def is_built(cls: Class) -> bool:
    """Whether some code that is no test makes an object of a class."""
    return any(not roles.is_test(path) for path in cls.module.program.answers(_building, cls.name))


@mentioning(0)
def _building(module: Module, name: str) -> bool:
    """Whether a file calls a class by its name."""
    return re.search(rf"(?<!\w)(?<!class ){re.escape(name)}\(".encode(), module.data) is not None


def leave_out(cls: Class, parameter: str, most: int) -> bool:
    """Whether all that build objects of a class leave a parameter of its constructor out, the one behind `most` by position; not
    where the class is used in a way that does not show it."""
    if not _may_be_class(cls.name):
        return False
    built = cls.module.program.answers(_builds, cls.name, parameter, most).values()
    return "plainly" in built and "otherwise" not in built


def is_built_openly(cls: Class) -> bool:
    """Whether some code builds objects of a class with arguments that are not written out, or uses it otherwise than by a call."""
    return not _may_be_class(cls.name) or any(cls.module.program.answers(_builds_openly, cls.name).values())


@mentioning(0)
def _builds_openly(module: Module, cls: str) -> bool:
    if cls.encode() not in module.data or roles.is_test(module.path):
        return False
    return None in module.index(_uses).get(cls, ())


@mentioning(0)
def _builds(module: Module, cls: str, parameter: str, most: int) -> str:
    """How a file uses a class: nothing where it does not; `plainly` where it only calls it, with at most so many arguments by
    position and without this one by name."""
    if roles.is_test(module.path):
        return ""
    uses = module.index(_uses).get(cls, ())
    if not all(use is not None and use[0] <= most and parameter not in use[1] for use in uses):
        return "otherwise"
    return "plainly" if uses else ""


_Use = tuple[int, frozenset[str]]
"""The arguments of a call: how many by position, and the names of the others."""


def _uses(module: Module) -> Mapping[str, frozenset[_Use | None]]:
    """How a file uses what may be a class by its name: with which arguments it calls it; None for another use than that, a base,
    an annotation of a parameter and a test of what something is."""
    found: dict[str, set[_Use | None]] = {}
    some = kinds(module.tree)
    plain: set[int] = set()
    for call in some[ast.Call]:
        name = _named(call.func)
        plain.add(id(call.func))
        if name == "isinstance":
            plain |= {id(part) for each in call.args[1:] for part in nodes(each)}
        elif _may_be_class(name):
            given = frozenset([each.arg for each in call.keywords])
            starred = None in given or ast.Starred in map(type, call.args)
            found.setdefault(name, set()).add(None if starred else (len(call.args), given))
    plain.update(id(base) for cls in some[ast.ClassDef] for base in cls.bases)
    for parameter in some[ast.arg]:
        if parameter.annotation is not None:
            plain.update(map(id, nodes(parameter.annotation)))
    for node in (*some[ast.Name], *some[ast.Attribute]):
        name = node.id if type(node) is ast.Name else node.attr
        if _may_be_class(name) and id(node) not in plain:
            found.setdefault(name, set()).add(None)
    return {name: frozenset(uses) for name, uses in found.items()}


def _may_be_class(name: str) -> bool:
    """Whether a name is written like that of a class: of the others nothing is kept."""
    return name.lstrip("_")[:1].isupper()


def _named(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
