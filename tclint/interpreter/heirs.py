"""The classes below one, and what they compile by a method that they have from it: `self.compile()` in a base class."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from tclint.interpreter import builders
from tclint.interpreter.frame import Frame
from tclint.program import Class, Function, Module
from tclint.sources import roles
from tclint.sources.text import lines_of
from tclint.sources.tree import nodes
from tclint.values import FunctionValue, Instance, Value

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter


_HEADER: Final = re.compile(rb"\nclass[ \t]+(\w+)[^\n(:]*\(([^):]*)")
_WORD: Final = re.compile(rb"\w+")


def below(interp: Interpreter, cls: Class) -> Iterator[Class]:
    """The classes of the program below one."""
    yield from _below(interp, cls, {})


def _below(interp: Interpreter, cls: Class, seen: dict[Class, None]) -> Iterator[Class]:
    program = cls.module.program
    for path, names in program.answers(_naming, cls.name).items():
        for name in names:
            heir = program.by_path[path].named(name)
            if isinstance(heir, Class) and heir not in seen and cls in interp.classes.mro(heir)[1:]:
                seen[heir] = None
                yield heir
                yield from _below(interp, heir, seen)


def _naming(module: Module, name: str) -> tuple[str, ...]:
    """The classes of a file that name one among their bases."""
    return module.index(_headers).get(name.encode(), ())


def _headers(module: Module) -> Mapping[bytes, tuple[str, ...]]:
    """By the words among the bases of the classes of a file, the names of these. Asked for each class that somebody may be below."""
    found: dict[bytes, dict[str, None]] = {}
    for name, bases in _HEADER.findall(lines_of(module.data)):
        for word in _WORD.findall(bases):
            found.setdefault(word, {})[name.decode()] = None
    return {word: tuple(names) for word, names in found.items()}


def compiled_with(frame: Frame, target: Value) -> tuple[bool, list[Value]]:
    """What a class compiles of itself, for the classes below it; and whether they are all that is compiled there.

    They are where the class leaves open what they define. A class that has its own is compiled, and so are those that
    some code builds.
    """
    function = frame.function
    itself = target.bound if isinstance(target, FunctionValue) else target
    if function is None or not function.is_method or not isinstance(itself, Instance) or not _is_any(frame, itself):
        return False, []
    if frame.maybe:
        return False, []  # each of them says by itself whether it comes to that
    classes = frame.interp.classes
    name = target.function.name if isinstance(target, FunctionValue) else "forward"
    own = classes.find_method(itself.cls, name)
    if isinstance(target, FunctionValue) and own is not target.function:
        return False, []
    is_open = own is None or own.is_left_open
    found: list[Value] = []
    for heir in below(frame.interp, itself.cls):
        method = classes.find_method(heir, name)
        if method is None or method is own or method.is_left_open or not _has(frame.interp, heir, function):
            continue
        if roles.is_test(heir.module.path) or not is_open and not builders.is_built(heir):
            continue
        made = Instance(heir)
        found.append(frame.interp.functions.value(method).bound_to(made) if isinstance(target, FunctionValue) else made)
    return is_open and bool(found), found


def _is_any(frame: Frame, itself: Instance) -> bool:
    """Whether an object is any of the class whose method runs."""
    return itself.cls is frame.cls and itself.context is None and not itself.identity and not itself.fields


def _has(interp: Interpreter, heir: Class, function: Function) -> bool:
    """Whether a class has a method of a base, or calls it in its own."""
    method = interp.classes.find_method(heir, function.name)
    return method is function or (method is not None and function.name in method.index(_called))


def _called(function: Function) -> frozenset[str]:
    """The names of the methods that a function calls."""
    calls = (node.func for node in nodes(function.node) if isinstance(node, ast.Call))
    return frozenset(func.attr for func in calls if isinstance(func, ast.Attribute))
