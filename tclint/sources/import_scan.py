"""The imports of a file, read from its bytes: far quicker than a parser, and never fewer than that would find.

Comments and strings that look like imports are taken for some. Whoever asks must not mind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_WORD: Final = rb"\w\x80-\xff"
_COMMENT: Final = re.compile(rb"#[^\r\n]*")
_GAP: Final = rb"(?:[ \t\f]|\\\r?\n)*"
# Looked ahead: what reads like the beginning of an import, in a comment, must not swallow the one that follows.
_FROM: Final = re.compile(
    rb"\bfrom\b(?=((?:["
    + _WORD
    + rb". \t\f]|\\\r?\n)*?)\bimport\b"
    + _GAP
    + rb"(\((?:[^)#]+|#[^\r\n]*)*|[^\r\n;#\\]*(?:\\\r?\n[^\r\n;#\\]*)*))"
)
_PLAIN: Final = re.compile(rb"\bimport\b(?=" + _GAP + rb"((?:[" + _WORD + rb"., \t\f]|\\\r?\n)*))")
_BLANK: Final = re.compile(rb"[\s\\]+")


class Imported(NamedTuple):
    """`import target`, or `from target import names`."""

    level: int
    """How many dots stand before the target."""
    target: str
    names: tuple[str, ...]


def imports(data: bytes) -> Iterator[Imported]:
    """What a file imports, at its top level and within functions."""
    for where, what in _FROM.findall(data):
        dotted = _BLANK.sub(b"", where)
        target = dotted.lstrip(b".")
        names = _COMMENT.sub(b"", what).lstrip(b"(").split(b",")
        yield Imported(len(dotted) - len(target), _text(target), tuple(filter(None, map(_first, names))))
    for what in _PLAIN.findall(data):
        for each in what.split(b","):
            if name := _first(each):
                yield Imported(0, name, ())


def _first(text: bytes) -> str:
    """The dotted name that a text begins with, without what it is to be called."""
    words = re.sub(rb"[\s\\]*\.[\s\\]*", b".", text.strip(b" \t\f\\\r\n")).split()
    return _text(words[0]) if words else ""


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
