"""Colours, as plain ANSI codes: a terminal library would cost more at start-up than the lint of a small file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO


class Palette:
    """Wraps text in the colour of its role, or leaves it alone."""

    __slots__ = ("_on",)

    def __init__(self, on: bool) -> None:
        self._on = on

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._on and text else text

    def bold(self, text: str) -> str:
        return self._paint("1", text)

    def dim(self, text: str) -> str:
        return self._paint("2", text)

    def gutter(self, text: str) -> str:
        return self._paint("1;34", text)

    def good(self, text: str) -> str:
        return self._paint("1;32", text)

    def severity(self, level: str, text: str) -> str:
        return self._paint({"high": "1;31", "medium": "1;33"}.get(level, "1;36"), text)


def wants_color(choice: str, stream: TextIO | None, environ: Mapping[str, str]) -> bool:
    """Whether to colour: `--color always|never` decides, then NO_COLOR, then FORCE_COLOR, then the terminal."""
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream is not None and stream.isatty() and environ.get("TERM") != "dumb"
