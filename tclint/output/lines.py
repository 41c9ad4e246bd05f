"""Source lines for output: read once per file, measured in the columns a terminal shows."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tclint.output import Sources

TAB = 4
# Not str.splitlines: it also breaks at form feeds and other separators that do not end a line of Python.
_COMMAND = re.compile(r"(?<!\S)(::|##\[)")
_NEWLINE = re.compile(r"\r\n|\r|\n")


class Lines:
    """The lines of the files that findings point into."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._files: dict[str, list[str]] = {}

    def of(self, path: str) -> list[str]:
        """All lines of a file; none where it cannot be read any more, for a finding is worth showing without them."""
        if path not in self._files:
            try:
                text = self._sources[path] if isinstance(self._sources, Mapping) else self._sources(path)
            except (KeyError, OSError):
                text = ""
            # Most files have no other: then the plain split is many times faster.
            self._files[path] = _NEWLINE.split(text) if "\r" in text else text.split("\n")
        return self._files[path]

    def line(self, path: str, number: int) -> str:
        lines = self.of(path)
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def between(self, path: str, start: tuple[int, int], end: tuple[int, int]) -> str:
        """The text from one (line, column) to another, columns from 1, the end exclusive."""
        lines = self.of(path)[start[0] - 1 : end[0]]
        if not lines:
            return ""
        if len(lines) > end[0] - start[0]:
            lines[-1] = lines[-1][: end[1] - 1]
        lines[0] = lines[0][start[1] - 1 :]
        return "\n".join(lines)


def shown(text: str) -> str:
    """A line as it is safe to print: tabs as blanks, control characters (a terminal would obey them) as a box."""
    text = text.replace("\t", " " * TAB)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def inert(line: str) -> str:
    """A line that begins with somebody else's words, so that no CI system takes it for a command (`::error::`)."""
    return f"\\{line}" if line.lstrip().startswith(("::", "##[")) else line


def harmless(text: str) -> str:
    """Text of several lines that may be wrapped anywhere, and is still safe to print."""
    return _COMMAND.sub(r"\\\1", "\n".join(map(shown, text.split("\n"))))


def width(text: str) -> int:
    """How many columns of a terminal the text fills."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Me", "Cf") else _cell(c) for c in text
    )


def _cell(char: str) -> int:
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def crop(text: str, start: int, end: int, room: int) -> tuple[str, int, int]:
    """`text` cut to `room` characters around text[start:end], and where that part is now."""
    if len(text) <= room:
        return text, start, end
    left = max(0, min(start - room // 4, len(text) - room))
    right = left + room
    cut = text[left:right]
    if left:
        cut = "…" + cut[1:]
    if right < len(text):
        cut = cut[:-1] + "…"
    return cut, max(start - left, 0), max(min(end - left, room), start - left + 1)
