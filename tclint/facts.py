"""What a file's bytes say without a parser: whether it can matter, what it imports, what it builds.

Facts are a pure function of the bytes (and of the names the configuration gives), so they are kept by content hash. The
imports are those a parser would find and perhaps a few more: they decide what must be read again after an edit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

# A file can only hold a root if one of these is in it; everything else is read when a root leads there.
COMPILES: Final = (
    rb"(?<!\bre)\.compile\b|import compile\b|_dynamo\.optimize|mark_unbacked|cudagraph|CUDAGraph|graphed_callables"
)
# Looking for each plain text first is far faster than one large pattern.
_PARTS: Final = [(re.compile(p), re.sub(rb"\(\?.*?\)|\\b|\\", b"", p)) for p in COMPILES.split(b"|")]
_FORWARD: Final = re.compile(rb"def forward\b")
_EXAMPLES: Final = re.compile(rb"^def (programs|calls)\(\)", re.M)
_CALLED: Final = re.compile(rb"\b([A-Z][A-Za-z0-9_]*)\(")
_CLASS_LINE: Final = re.compile(rb"\n[ \t\r\f\v]*class [^\n]*")
_IMPORT: Final = re.compile(
    rb"[\n;:][ \t\f]*(?:from[ \t]*([.\w \t]+?)[ \t]*\bimport\b[ \t]*(\([^)]*\)|(?:[^\n;#\\]|\\\r?\n)*)"
    rb"|import[ \t]+((?:[^\n;#\\]|\\\r?\n)*))"
)
_ATTRIBUTE: Final = re.compile(rb"\.([A-Za-z_]\w*)")


class Facts(NamedTuple):
    """What decides how a file takes part in a run."""

    root: bool
    """Defines a `forward`."""
    forward: bool
    """Mentions `forward`, so that a class of it may inherit one."""
    compiles: bool
    examples: bool
    torch: bool
    asks: bool
    """Holds calls of CUDA-graph functions that rules look at outside of compiled code too."""
    comments: bool
    """May hold comments that silence findings."""
    built: frozenset[str]
    """Class names the file calls: a module built by another is no outermost root."""
    listeners: tuple[str, ...]
    """Codes of the rules about whole files that want to see it."""


def survey(data: bytes, names: Sequence[bytes], triggers: Sequence[tuple[str, Sequence[bytes]]]) -> Facts:
    """The facts of a file. `names` are functions known to compile, `triggers` the texts that rules wait for, by code."""
    forward = b"forward" in data
    return Facts(
        root=forward and _FORWARD.search(data) is not None,
        forward=forward,
        compiles=compiles(data) or any(name in data for name in names),
        examples=(b"def programs()" in data or b"def calls()" in data) and _EXAMPLES.search(data) is not None,
        torch=b"torch" in data,
        asks=b"graphed_callables" in data or b"mark_unbacked" in data,
        comments=b"tclint:" in data or b"noqa" in data,
        built=_built(data) if forward else frozenset(),
        listeners=tuple(code for code, texts in triggers if any(text in data for text in texts)),
    )


def compiles(data: bytes) -> bool:
    """Whether `COMPILES` matches."""
    return any(literal in data and pattern.search(data) for pattern, literal in _PARTS)


def _built(data: bytes) -> frozenset[str]:
    return frozenset(name.decode() for name in set(_CALLED.findall(_CLASS_LINE.sub(b"", b"\n" + data))))


Imports = tuple[tuple[str, tuple[str, ...]], ...]
"""Dotted names, with leading dots where relative, each with the names taken from it (`*` for all, none for `import`)."""


def imports(data: bytes) -> Imports:
    """The imports of a file, those inside functions included."""
    modules: dict[tuple[str, tuple[str, ...]], None] = {}
    for source, names, plain in _IMPORT.findall(b"\n" + data):
        if source:
            modules[_squeezed(source), tuple(_names(names))] = None
        else:
            for name in _names(plain):
                modules[name, ()] = None
    return tuple(modules)


def attributes(data: bytes) -> frozenset[str]:
    """Every name behind a dot: `package.part` may read a module that no statement imports."""
    return frozenset(name.decode("utf-8", "replace") for name in set(_ATTRIBUTE.findall(data)))


def _squeezed(text: bytes) -> str:
    return b"".join(text.split()).decode("utf-8", "replace")


def _names(text: bytes) -> list[str]:
    """`a as b, c` without the aliases, comments, brackets and line ends."""
    lines = (line.partition(b"#")[0] for line in text.replace(b"\\", b" ").split(b"\n"))
    parts = b" ".join(lines).strip(b"() \t\r").split(b",")
    return [part.split()[0].decode("utf-8", "replace") for part in parts if part.split()]
