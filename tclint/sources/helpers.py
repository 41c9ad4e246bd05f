"""Functions of the program that compile what they are given, by the text of their file: `maybe_compile(model)`."""

from __future__ import annotations

import re
from typing import Final

_COMPILED: Final = re.compile(rb"\btorch\.compile\(\s*\**(\w+)|(?<![\w.])(\w+)\.compile\(")
_CALL: Final = b".compile("
_LAST_WORD: Final = re.compile(rb"\w+\Z")
_LONGEST: Final = 100
"""Letters of a name: a longer one is none that a parameter has."""
_DEFINED: Final = re.compile(rb"^([ \t]*)def[ \t]+(\w+)[ \t]*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.MULTILINE)
_PARAMETER: Final = re.compile(rb"(?:^|,)\s*\**(\w+)")
_GIVEN_BACK: Final = re.compile(rb"\breturn[ \t(]+torch\.compile\(\s*(\w+)")
_OUTSIDE: Final = rb"^[ \t]{0,%d}[^\s#)\]}]"
_NOT_TOLD: Final = re.compile(rb"__\w+__|forward")
"""Methods whose names say nothing of who they are."""


def helpers(data: bytes) -> frozenset[str]:
    """The functions of a file that hand one of their parameters to `torch.compile`, or compile it in place; a function in them may.

    Of methods, with a dot before the name, those that give it back: whoever calls them need not import the name.
    """
    found: set[bytes] = set()
    compiled = _compiled(data)
    defined = [*_DEFINED.finditer(data)] if compiled else []
    inside = any(match[1] and not compiled.isdisjoint(_PARAMETER.findall(match[3])) for match in defined)
    for match in defined:
        indent, name, parameters = match.groups()
        if indent and _NOT_TOLD.fullmatch(name):
            continue
        given = set(_PARAMETER.findall(parameters))
        if given.isdisjoint(compiled) and (indent or not inside):
            continue  # most functions: where they end need not be looked for
        after = re.compile(_OUTSIDE % len(indent), re.MULTILINE).search(data, match.end())
        body = data[match.end() : after.start() if after is not None else len(data)]
        is_method = bool(indent) and not given.isdisjoint(_OWNERS)
        if is_method and not given.isdisjoint(_GIVEN_BACK.findall(body)):
            found.add(b"." + name)
        elif not indent and not (given | _given_inside(body)).isdisjoint(_compiled(body)):
            found.add(name)
    return frozenset(name.decode() for name in found)


def _given_inside(body: bytes) -> set[bytes]:
    """The parameters of the functions in a function: `def compiled(**options): def decorate(f): return torch.compile(f, **options)`."""
    return {name for match in _DEFINED.finditer(body) for name in _PARAMETER.findall(match[3])} - _OWNERS


def _compiled(data: bytes) -> set[bytes]:
    """The names that `torch.compile` is handed in a text, and those of which `compile` is called."""
    found: set[bytes] = set()
    # The call first, then the word before it: a pattern that begins with a word is tried at each word of the file.
    call = data.find(_CALL)
    while call >= 0:
        word = _LAST_WORD.search(data[max(0, call - _LONGEST) : call])
        match = _COMPILED.match(data, call - len(word[0])) if word is not None else None
        if match is not None:
            found.add(match[1] or match[2])
        call = data.find(_CALL, call + 1)
    return found


_OWNERS: Final = frozenset({b"self", b"cls"})
