"""What a file's bytes say without a parser: whether it can matter, and what it builds.

A glance is a pure function of the bytes (and of the names the configuration gives), so it is kept by content hash.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from tclint.model.settings import Settings
from tclint.sources.helpers import helpers
from tclint.torch_facts import facts

# A file can only hold a root if one of these is in it; everything else is read when a root leads there.
COMPILES: Final = (
    rb"(?<!\bre)\.compile\b|import compile\b|\bcompile as\b|(?<![\w.])compile\(|@compile\b|_dynamo\.optimize|mark_unbacked"
    rb"|cudagraph_mark|cudagraphs\b|\bCUDAGraph\b|graphed_callables"
)
_CAPTURES: Final = re.compile(rb"\bCUDAGraph\b|graphed_callables|mark_unbacked")
_CAPTURING: Final = (b"CUDAGraph", b"graphed_callables", b"mark_unbacked")
# Looking for each plain text first is far faster than one large pattern.
_PARTS: Final = [(re.compile(p), re.sub(rb"\(\?.*?\)|\\b|\\", b"", p)) for p in COMPILES.split(b"|")]
_FORWARD: Final = re.compile(rb"def forward\b")
# Read backwards, so that the bracket comes first: there are far fewer brackets than words.
_CALLED: Final = re.compile(rb"\(([A-Za-z0-9_]*[A-Z])(?![A-Za-z0-9_]| +ssalc)")

# Classes of libraries whose forward calls other methods of those below them: the last word of each.
_CALLING: Final = frozenset(name.split(".")[-2] for name in facts.named("is called by the forward of its class"))

_CLASS: Final = re.compile(rb"class[ \t]+(\w+)[ \t]*\(([^)]*)\)")
_BASE: Final = re.compile(rb"(\w+)\s*(?:\[|,|$)")

_IMPORT: Final = re.compile(rb"import\b")
_WORD: Final = re.compile(rb"[A-Za-z_]\w*")


class Glance(NamedTuple):
    """What decides how a file takes part in a run."""

    root: bool
    """Defines a `forward`, or methods that the forward of a library's class calls."""
    forward: bool
    """Mentions `forward`, or has such methods."""
    compiles: bool
    asks: bool
    """Holds calls of CUDA-graph functions that rules look at outside of compiled code too."""
    comments: bool
    """May hold comments that silence findings."""
    marked: bool
    """May hold comments that are tclint's alone: one that silences nothing is told."""
    built: frozenset[str]
    """Class names the file calls: a module built by another is no outermost root."""
    classes: frozenset[str]
    """The names of classes that it derives from others."""
    bases: frozenset[str]
    """What these are derived from, by the last word: it may have a `forward` that they inherit."""
    words: frozenset[str]
    """Every word of its import statements: the files it can lead to are named by some of them."""
    listeners: tuple[str, ...]
    """Codes of the rules about whole files that want to see it."""
    helpers: frozenset[str]
    """The functions that compile what they are given: who imports one compiles too."""


def configured(settings: Settings) -> list[bytes]:
    """The names that the configuration gives to what compiles and to what comes out of it, as a text has them."""
    cudagraph = settings.cudagraph
    known = (*settings.compile_functions, *cudagraph.callables, *cudagraph.only_through, *cudagraph.clone_helpers)
    return [name for pattern in known if (name := pattern.rpartition(".")[2].replace("*", "").encode())]


def glance(data: bytes, names: Sequence[bytes], triggers: Sequence[tuple[str, Sequence[bytes]]]) -> Glance:
    """One look at a file. `names` are functions known to compile, `triggers` the texts that rules wait for, by code."""
    held = _sieve(tuple([text for _, texts in triggers for text in texts])).held_by(data)
    compiling = _compiles(data, held) or any(name in data for name in names)
    classes, bases = _derived(data)
    called = not bases.isdisjoint(_CALLING)
    forward = called or b"forward" in data
    return Glance(
        root=called or (forward and _FORWARD.search(data) is not None),
        forward=forward,
        compiles=compiling,
        asks=compiling and not held.isdisjoint(_CAPTURING) and _CAPTURES.search(data) is not None,
        comments=(marked := b"tclint:" in data) or b"noqa" in data,
        marked=marked,
        built=_built(data) if forward or classes else frozenset(),
        classes=classes,
        bases=bases,
        words=_import_words(data) if forward or compiling or classes else frozenset(),
        listeners=tuple(code for code, texts in triggers if not held.isdisjoint(texts)),
        helpers=helpers(data) if compiling else frozenset(),
    )


def compiles(data: bytes) -> bool:
    """Whether `COMPILES` matches."""
    return _compiles(data, _sieve(()).held_by(data))


def _compiles(data: bytes, held: Container[bytes]) -> bool:
    return any(literal in held and pattern.search(data) for pattern, literal in _PARTS)


class _Sieve:
    """Which of some texts a file holds, and of the literals of `COMPILES`: thousands of files are asked for dozens of them.

    What several of them have in common is looked for first: most files hold none of those.
    """

    def __init__(self, texts: Iterable[bytes]) -> None:
        left = set(texts)
        self._groups: list[tuple[bytes, tuple[bytes, ...]]] = []
        while left:
            some = {part for text in left for part in (text, *_LETTERS.findall(text))}
            # Of parts that are as common, the longest is the rarest; the rest of the order is for nobody to see.
            _, _, common = max((sum(part in text for text in left), len(part), part) for part in some)
            group = tuple(sorted(text for text in left if common in text))
            self._groups.append((common, group))
            left.difference_update(group)

    def held_by(self, data: bytes) -> set[bytes]:
        """Those that stand in a text."""
        groups = (group for common, group in self._groups if common in data)
        return {text for group in groups for text in group if text in data}


_LETTERS: Final = re.compile(rb"[A-Za-z]{4,}")


@lru_cache(maxsize=8)
def _sieve(texts: tuple[bytes, ...]) -> _Sieve:
    return _Sieve((*texts, *(literal for _, literal in _PARTS), *_CAPTURING))


def imports_any(data: bytes, names: Sequence[str]) -> bool:
    """Whether a file takes one of these names from another one, or calls one of these methods (`.name`)."""
    there = [name for name in names if name.encode() in data]
    if any(f"{name}(".encode() in data for name in there if name[:1] == "."):
        return True
    return bool(there) and not _import_words(data).isdisjoint(there)


def inheriting(glances: Mapping[str, Glance]) -> frozenset[str]:
    """The files of which a class derives from one whose file defines a `forward`, however far up, going by names."""
    deriving: dict[str, list[str]] = {}
    open_ends: list[str] = []
    for path, each in glances.items():
        if each.root:
            open_ends += each.classes
        for base in each.bases:
            deriving.setdefault(base, []).append(path)
    found: set[str] = set()
    while open_ends:
        for path in deriving.pop(open_ends.pop(), ()):
            if path not in found:
                found.add(path)
                open_ends += glances[path].classes
    return frozenset(found)


def _derived(data: bytes) -> tuple[frozenset[str], frozenset[str]]:
    """The names of the classes that derive from others, and the last words of what they derive from."""
    if b"class" not in data:
        return frozenset(), frozenset()
    found = _CLASS.findall(data)
    bases = {base for _, text in found for base in _BASE.findall(text)}
    return frozenset(name.decode() for name, _ in found), frozenset(base.decode() for base in bases)


def _built(data: bytes) -> frozenset[str]:
    """The names with a capital that are called, as classes are."""
    return frozenset(name[::-1].decode() for name in set(_CALLED.findall(data[::-1])))


def _import_words(data: bytes) -> frozenset[str]:
    """The words of all lines that import, and of the brackets that follow."""
    found: set[bytes] = set()
    read = 0
    for match in _IMPORT.finditer(data):
        bracket = data[match.end() : match.end() + 8].lstrip(b" \t\\").startswith(b"(")
        if match.end() <= read and not bracket:
            continue  # the word again on a line that was read
        start = max(read, data.rfind(b"\n", 0, match.start()) + 1)
        end = data.find(b")" if bracket else b"\n", match.end())
        end = end if end >= 0 else len(data)
        if end > start:
            found.update(_WORD.findall(data, start, end))
            read = end
        if end == len(data):
            break
    return frozenset(word.decode() for word in found)
