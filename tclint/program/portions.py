"""How much of a file a result was read from: all of it, or its outline, some of its functions, and facts about it.

Most edits change one function. What was read from others, and asked no more of the file than an edit leaves as it is, holds.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from tclint.program.symbols import Function

if TYPE_CHECKING:
    from tclint.program.module import Module


class Outline:
    """A file without the bodies of its functions: what it defines, and where that stands."""

    __slots__ = ("module",)

    def __init__(self, module: Module) -> None:
        self.module = module


class Fact:
    """What a function makes of a whole file. Whoever asks depends on what comes out, and on the outline of the file."""

    __slots__ = ("module", "name")

    def __init__(self, module: Module, build: Callable[[Module], Any]) -> None:
        self.module = module
        self.name = f"{build.__module__} {build.__qualname__}"


class Portion(NamedTuple):
    """What of a file was read, where it was not all of it: as plain values, with what that comes to."""

    functions: bytes
    """Their numbers in the file."""
    facts: tuple[str, ...]
    """The names of the functions that made them."""
    digest: str


Read = tuple[str, Portion | None]
"""A file, or a question to all of them, and what of it was read; None for all."""


def reads(touched: Iterable[Any]) -> list[Read]:
    """What was touched (see `Program.touched`), as plain values."""
    whole: dict[str, None] = {}
    partly: dict[Module, tuple[list[int], list[str]]] = {}
    for each in touched:
        if isinstance(each, Function):
            partly.setdefault(each.module, ([], []))[0].append(each.ordinal)
        elif isinstance(each, Fact):
            partly.setdefault(each.module, ([], []))[1].append(each.name)
        elif isinstance(each, Outline):
            partly.setdefault(each.module, ([], []))
        else:
            whole[each.path] = None
    rows: list[Read] = [(path, None) for path in whole]
    for module, (numbers, facts) in partly.items():
        if module.path not in whole:
            functions, names = array("L", sorted(numbers)).tobytes(), tuple(sorted(facts))
            now = digest(module, functions, names)
            rows.append((module.path, Portion(functions, names, now) if now is not None else None))
    return sorted(rows, key=lambda row: row[0])


def digest(module: Module, functions: bytes, facts: Iterable[str]) -> str | None:
    """What the outline of a file, some of its functions and some facts come to; None where that cannot be said."""
    with module.program.unwatched():
        outline = module.index(_outline)
        if module.problem is not None:
            return None
        numbers = array("L", functions)
        texts = module.index(_functions)
        if not all(number in texts for number in numbers):
            return None
        made = [_fact(module, name) for name in facts]
    if None in made:
        return None
    return _hash("\n".join([outline, *(texts[number] for number in numbers), *map(str, made)]).encode())


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _outline(module: Module) -> str:
    """What a file comes to without its functions' texts: all other statements, and where each of them stands."""
    parts = [module.text_of(1, 2)]  # these may say how the rest is encoded
    functions = module.spans_of_functions.values()
    spans = iter(functions)
    span = next(spans, None)
    for line, last in module.lines_of_outline:
        # A compound statement at the top level may hold functions.
        while span is not None and span[0] <= last:
            if span[0] >= line:
                parts += [b"\0%d\0" % line, module.text_of(line, span[0] - 1)]
                line = span[1] + 1
            span = next(spans, None)
        if line <= last:
            parts += [b"\0%d\0" % line, module.text_of(line, last)]
    parts += [repr([*functions]).encode(), repr(sorted(module.rebound)).encode()]
    return _hash(b"".join(parts))


def _functions(module: Module) -> Mapping[int, str]:
    """By number, what each function's text comes to."""
    return {
        number: _hash(module.text_of(first, last)) for number, (first, last, _) in module.spans_of_functions.items()
    }


def _fact(module: Module, name: str) -> str | None:
    """What a fact about a file comes to; None where whoever made it is not loaded, or it is nothing that can be compared."""
    known = module.index(_facts)
    if name not in known:
        home, function = name.split(" ")
        build = getattr(sys.modules.get(home), function, None)
        text = _plain(module.index(build)) if callable(build) else None
        known[name] = _hash(text.encode("utf-8", "surrogatepass")) if text is not None else None
    return known[name]


def _facts(module: Module) -> dict[str, str | None]:
    """What was asked before."""
    return {}


def _plain(value: Any) -> str | None:
    """A value as text that is the same in every process; None of one that has no such text."""
    kind = type(value)
    if value is None or kind in (bool, int, float, complex, str, bytes):
        return repr(value)
    if isinstance(value, ast.AST):
        return ast.dump(value, include_attributes=True)
    if is_dataclass(value):
        parts = [_plain(getattr(value, field.name)) for field in fields(value)]
    elif kind is dict:
        parts = [each for pair in value.items() for each in map(_plain, pair)]
    elif kind in (tuple, list, set, frozenset):
        parts = [_plain(each) for each in value]
    else:
        return None
    if None in parts:
        return None
    texts = [part for part in parts if part is not None]
    return f"{kind.__name__}({', '.join(sorted(texts) if kind in (set, frozenset) else texts)})"
