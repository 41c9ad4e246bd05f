"""Where the lines of a file are after some edits, and what they were before."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Moved:
    """The lines of two states of a file, counted from 1."""

    before: bytes
    after: bytes

    def new(self, line: int) -> int:
        """Where a line is after the edits; the beginning of what it became, where it changed."""
        for _, i1, i2, j1, j2 in self._opcodes:
            if i1 <= line - 1 < i2:
                return min(j1 + (line - 1 - i1), max(j2 - 1, j1)) + 1
        return line

    def old(self, line: int) -> range:
        """What a line was: itself, or all the lines that a change replaced."""
        for tag, i1, i2, j1, j2 in self._opcodes:
            if j1 <= line - 1 < j2:
                return range(line - j1 + i1, line - j1 + i1 + 1) if tag == "equal" else range(i1 + 1, i2 + 1)
        return range(line, line + 1)

    @cached_property
    def _opcodes(self) -> Sequence[tuple[str, int, int, int, int]]:
        if self.before == self.after:
            return ()
        old, new = self.before.splitlines(), self.after.splitlines()
        return difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
