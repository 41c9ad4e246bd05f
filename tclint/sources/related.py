"""Which parts of a large folder have to do with the files that somebody named: those that imports join.

Around a single file its whole project is read, as a compile site anywhere in it may speak for the file. A folder of many
packages (what pip fills, a monorepo) is a project too, and most of it says nothing about the others. A part is what lies
directly in the folder, a package or a script; two of them are joined where one imports the other, by whatever name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from tclint.sources import regular
from tclint.sources.files import ENDINGS, InputFile

_MOST: Final = 20_000_000
"""Bytes of a file whose imports are looked for."""

# One word is found far more quickly than a statement.
_WORD: Final = re.compile(rb"import\b")

Words = frozenset[str]
Ask = Callable[[str, Sequence[InputFile], Callable[[InputFile], bytes], Callable[[bytes], Words]], Mapping[str, Words]]
"""A question, the files it is asked of, how they are read, what is said of their bytes; answered by absolute path."""

# Comments and strings that look like imports join too much, and that only costs time.
_GAP: Final = rb"(?:[ \t\f]|\\\r?\n)+"
_IMPORT: Final = re.compile(
    rb"\bfrom"
    + _GAP
    + rb"([\w\x80-\xff]+)((?:\.[\w\x80-\xff]+)?)|\bimport"
    + _GAP
    + rb"((?:[\w\x80-\xff., \t]|\\\r?\n)+)"
)


def related(
    files: Sequence[InputFile], root: str, import_roots: Iterable[str], ask: Ask | None = None
) -> list[InputFile]:
    """The files without those of the project at `root` that cannot matter for the ones that are reported.

    `import_roots` are the folders that absolute imports may start from beside those above the importing file. `ask` may
    know what was said of a file's content before.
    """
    start = os.path.join(root, "")
    if any(file.absolute == f"{start}__init__.py" for file in files):
        return list(files)  # relative imports lead from one part of a package to the next
    by_part: dict[str, list[InputFile]] = {}
    for file in files:
        if part := _part(file.absolute, start):
            by_part.setdefault(part, []).append(file)
    named = _named(by_part, start, import_roots)
    top = os.path.basename(root)
    words = (ask or _each)(f"imported {top}", files, content, partial(_imported, top=top))
    joined: dict[str, set[str]] = {part: set() for part in by_part}
    for part, here in by_part.items():
        for word in set().union(*(words[file.absolute] for file in here)):
            for other in named.get(word, ()):
                joined[part].add(other)
                joined[other].add(part)
    found: set[str] = set()
    ahead = [part for part, here in by_part.items() if any(file.report for file in here)]
    while ahead:
        part = ahead.pop()
        if part not in found:
            found.add(part)
            ahead += joined[part]
    return [file for file in files if (part := _part(file.absolute, start)) in found or not part]


def _part(absolute: str, start: str) -> str:
    """The part of the folder that a path lies in, empty where it lies elsewhere."""
    return absolute[len(start) :].partition(os.sep)[0] if absolute.startswith(start) else ""


def _named(parts: Iterable[str], start: str, import_roots: Iterable[str]) -> Mapping[str, set[str]]:
    """By the first word of an import, the parts that it may mean."""
    named: dict[str, set[str]] = {}
    for part in parts:
        named.setdefault(_stem(part), set()).add(part)
    for folder in import_roots:
        part = _part(folder, start)
        if part not in parts:
            continue
        named.setdefault(os.path.basename(folder), set()).add(part)
        for name in _listed(folder):
            named.setdefault(_stem(name), set()).add(part)
    return named


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # a root that is not there holds nothing that could be imported
        return []


def _stem(name: str) -> str:
    return os.path.splitext(name)[0] if name.endswith(ENDINGS) else name


def content(file: InputFile) -> bytes:
    """The bytes of a file, none where it cannot be read."""
    if file.text is not None:
        return file.text
    try:
        return regular.read(os.path.realpath(file.absolute), _MOST) or b""
    except OSError:
        return b""  # told where the file is read for good


def _each(
    question: str, files: Sequence[InputFile], content: Callable[[InputFile], bytes], say: Callable[[bytes], Words]
) -> Mapping[str, Words]:
    return {file.absolute: say(content(file)) for file in files}


def _lines(data: bytes) -> bytes:
    """The lines on which a file may import something, with those that they go on from or on to."""
    found = []
    read = 0
    for word in _WORD.finditer(data):
        if word.start() < read:
            continue
        start = data.rfind(b"\n", 0, word.start()) + 1
        while start and data[max(0, start - 3) : start].endswith((b"\\\n", b"\\\r\n")):
            start = data.rfind(b"\n", 0, start - 1) + 1
        end = data.find(b"\n", word.end())
        while end >= 0 and data[max(0, end - 2) : end].rstrip(b"\r").endswith(b"\\"):
            end = data.find(b"\n", end + 1)
        read = end if end >= 0 else len(data)
        found.append(data[start:read])
    return b"\n".join(found)


def _imported(data: bytes, top: str) -> Words:
    """The first words of what a file imports; of what starts with the folder's own name, the second ones."""
    words: set[str] = set()
    for first, second, several in _IMPORT.findall(_lines(data)):
        for dotted in several.split(b",") if several else [first + second]:
            parts = dotted.strip(b" \t\\\r\n").split(b" ")[0].decode("utf-8", "replace").split(".")
            words.update(parts[:2] if parts[0] == top else parts[:1])
    return frozenset(words)
