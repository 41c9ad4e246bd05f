"""Functions of the program that compile what they are given, by the text of their file: `maybe_compile(model)`."""

from __future__ import annotations

import re
from typing import Final

_COMPILED: Final = re.compile(rb"\btorch\.compile\(\s*\**(\w+)|(?<![\w.])(\w+)\.compile\(")
_DEFINED: Final = re.compile(rb"^def[ \t]+(\w+)[ \t]*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.MULTILINE)
_PARAMETER: Final = re.compile(rb"(?:^|,)\s*\**(\w+)")
_TOP_LEVEL: Final = re.compile(rb"^[^\s#)\]}]", re.MULTILINE)


def helpers(data: bytes) -> frozenset[str]:
    """The functions at the top level of a file that hand one of their parameters to `torch.compile`, or compile it in place."""
    found: set[bytes] = set()
    for match in _DEFINED.finditer(data):
        after = _TOP_LEVEL.search(data, match.end())
        body = data[match.end() : after.start() if after is not None else len(data)]
        given = set(_PARAMETER.findall(match[2]))
        if any({*names} & given for names in _COMPILED.findall(body)):
            found.add(match[1])
    return frozenset(name.decode() for name in found)
