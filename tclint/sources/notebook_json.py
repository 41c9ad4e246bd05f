"""Where the source of each cell stands in a notebook's own text, which is JSON."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tclint.sources.ipython import NEWLINE


@dataclass(slots=True)
class Spot:
    """A cell's source: from where to where, and the blanks between its lines."""

    start: int = 0
    end: int = 0
    gaps: tuple[str, str, str] | None = None
    items: list[int] = field(default_factory=list)
    """Where each line of a list starts."""


def rows(source: object, count: int, spot: Spot, breaks: Sequence[int]) -> Iterator[int]:
    """The line of the file for each line of a cell. `breaks` says where the lines of the file begin."""
    if not isinstance(source, list):
        row = bisect_right(breaks, spot.start) + 1
        yield from (row for _ in range(count))
        return
    for text, at in zip(source, spot.items, strict=True):
        row = bisect_right(breaks, at) + 1
        # One item is one line, but nothing stops a program from writing several.
        yield from (row for _ in range(max(len(NEWLINE.findall(text)), 1)))


def cells(raw: str) -> Iterator[tuple[str, object, Spot]]:
    """Of each cell its type, its source and where that stands."""
    scan = _Scanner(raw)
    for key in scan.members():
        if key != "cells":
            scan.value()
            continue
        for _ in scan.items():
            if scan.peek() != "{":
                scan.value()
                yield "", "", Spot()
                continue
            kind: object = ""
            source: object = None
            spot = Spot(scan.at, scan.at)
            for name in scan.members():
                if name == "source":
                    source, spot = scan.source()
                elif name == "cell_type":
                    kind = scan.value()
                else:
                    scan.value()
            yield str(kind), source, spot


class _Scanner:
    """Reads JSON that is known to be valid, and knows where it is."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0
        # No number matters here, and Python refuses to read integers of some thousand digits.
        self._decode = json.JSONDecoder(parse_int=float).raw_decode

    def peek(self) -> str:
        while self.text[self.at] in " \t\r\n":
            self.at += 1
        return self.text[self.at]

    def value(self) -> object:
        self.peek()
        value, self.at = self._decode(self.text, self.at)
        return value

    def members(self) -> Iterator[str]:
        """The keys of an object; whoever iterates reads each value before going on."""
        for _ in self.items():
            key = str(self.value())
            self.peek()
            self.at += 1  # the colon
            yield key

    def items(self) -> Iterator[int]:
        """The items of a list, or of an object."""
        self.peek()
        self.at += 1
        while self.peek() not in "]}":
            yield self.at
            if self.peek() == ",":
                self.at += 1
        self.at += 1

    def source(self) -> tuple[object, Spot]:
        self.peek()
        spot = Spot(self.at)
        if self.text[self.at] != "[":
            value = self.value()
            spot.end = self.at
            return value, spot
        lines: list[object] = []
        ends: list[int] = []
        for at in self.items():
            spot.items.append(at)
            lines.append(self.value())
            ends.append(self.at)
        spot.end = self.at
        first, last = (spot.items[0], ends[-1]) if ends else (spot.start + 1, spot.start + 1)
        before, after = self.text[spot.start + 1 : first], self.text[last : self.at - 1]
        between = before or (" " if '": ' in self.text else "")
        if len(ends) > 1:
            between = self.text[ends[0] : spot.items[1]].replace(",", "")
        spot.gaps = before, between, after
        return lines, spot
