"""What the compile sites of a program tell about the rest of it, as lessons that can be compared.

A part of a run (see `parts`) is interpreted with what the sites told: how a model is called, with what it was built, what
is assigned to it later. Kept results must know which of that they were made with, and nothing more: a new training loop
for one model says nothing about another.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tclint.program import Class, Function, Module, Program
from tclint.sources.tree import names_read
from tclint.values import FunctionValue, Instance, Origin

if TYPE_CHECKING:
    from tclint.interpreter.machine import Interpreter


class Lesson(NamedTuple):
    """One thing that the compile sites taught."""

    about: tuple[str, ...]
    """The files it speaks of; a part that reads none of them need not know. Nothing: everybody's."""
    digest: str
    """What it says."""


def lessons(interp: Interpreter) -> list[Lesson]:
    """What an interpreter hands on to those that start from it (`Interpreter.fresh`)."""
    return list(dict.fromkeys(_lessons(interp)))


def _lessons(interp: Interpreter) -> Iterator[Lesson]:
    program, learned = interp.program, interp.learned
    for site in learned.sites.values():
        yield _lesson([site.path], "site", site)
    for path, on in interp.options.dynamo.items():
        yield _lesson([path], "dynamo", on)
    for target, site in learned.targets:
        if isinstance(target, FunctionValue):
            yield _lesson([target.function.module.path], "alone", target.function, site.test)
    for key, target in learned.callees.items():
        if isinstance(target, Instance):
            yield _lesson([target.cls.module.path], "called", target, learned.calls_seen.get(key))
    for function, closure in learned.closures.items():
        yield _lesson([function.module.path], "closure", function, _captured(function, closure))
    for (path, name), values in learned.late.items():
        yield _lesson([path], "late", name, values)
    for path, *names in sorted(learned.rebound):  # a set has another order in every process
        yield _lesson([path], "rebound", names)
    for key, compiled in learned.compiled_instances.items():
        yield _lesson(paths_in(program, key), "compiled", key, compiled)
    for key, construction in learned.constructions.items():
        yield _lesson(paths_in(program, key), "built", key, construction)


def _lesson(about: Iterable[str], *what: Any) -> Lesson:
    text = "\n".join(_text(part, []) for part in what)
    return Lesson(tuple(about), hashlib.blake2b(text.encode(), digest_size=16).hexdigest())


def paths_in(program: Program, key: Any) -> list[str]:
    """The files that the key of an instance names."""
    paths = program.paths
    found: set[str] = set()
    stack = [key]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            found.update({part} & paths)
        elif isinstance(part, (tuple, frozenset)):
            stack.extend(part)
    return sorted(found)


_PLAIN: Final = (str, int, float, complex, bytes, bool, type(None), type(...))
_PRIVATE: Final = frozenset({"_key", "_nesting", "key", "depth"})
"""Derived from the rest of a value, or no part of it."""


def _text(value: Any, above: list[int]) -> str:
    """A value in full, the same in every process."""
    if isinstance(value, (Enum, *_PLAIN)):
        return repr(value)
    if isinstance(value, (Function, Class)):
        which = value.mark if isinstance(value, Function) else value.address
        return f"{type(value).__name__} {value.module.path} {value.qualname} {which}"
    if isinstance(value, Module):
        return f"module {value.path}"
    if isinstance(value, ast.AST):
        line, column = getattr(value, "lineno", 0), getattr(value, "col_offset", 0)
        return f"{type(value).__name__} {line} {column} {Origin(0, value).text()}"
    if id(value) in above:
        return "…"
    above.append(id(value))
    if isinstance(value, Mapping):
        inner = [f"{_text(k, above)}: {_text(v, above)}" for k, v in value.items()]
    elif isinstance(value, (frozenset, set)):
        inner = sorted(_text(each, above) for each in value)
    elif isinstance(value, (tuple, list)):
        inner = [_text(each, above) for each in value]
    else:
        inner = [_text(part, above) for part in parts_of(value)]
    above.pop()
    return f"{type(value).__name__}({', '.join(inner)})"


def parts_of(value: Any) -> Iterator[Any]:
    """What an object is made of: of a function's environment, what the function reads."""
    return (_part(value, name) for name in _fields(type(value)))


def _part(value: Any, name: str) -> Any:
    part = getattr(value, name, None)
    return _captured(value.function, part) if name == "closure" else part


def _captured(function: Function, closure: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """What a function sees of the names around it: of a long function around it, most are nothing to it."""
    if closure is None:
        return None
    return {name: closure[name] for name in function.index(_read) if name in closure}


def _read(function: Function) -> list[str]:
    return sorted(names_read([function.node]))


def _fields(kind: type[Any]) -> list[str]:
    """The names of an object's parts."""
    known = _known_fields.get(kind)
    if known is None:
        slots = [name for base in kind.__mro__ for name in _slots(base)]
        known = _known_fields[kind] = [name for name in slots if name not in _PRIVATE]
    return known


def _slots(kind: type[Any]) -> Iterable[str]:
    slots = kind.__dict__.get("__slots__", kind.__dict__.get("__dataclass_fields__", ()))
    return (slots,) if isinstance(slots, str) else tuple(slots)


_known_fields: dict[type[Any], list[str]] = {}
