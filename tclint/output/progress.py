"""How far a long run is: one line on stderr, on a terminal only, and only where there is something to wait for."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TextIO

PATIENCE = 1.0
"""Seconds before the first word: most runs are over by then."""
_EVERY = 0.1


class Progress:
    """Called with (done, total), as often as one likes. Used with `with`: the line is gone when the block ends."""

    def __init__(
        self,
        what: str = "files",
        stream: TextIO | None = None,
        *,
        quiet: bool = False,
        environ: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream if stream is not None else sys.stderr
        environ = os.environ if environ is None else environ
        # A log keeps every line ever drawn; CI systems that pretend to be terminals keep them too.
        self._on = not quiet and self._stream.isatty() and environ.get("TERM") != "dumb" and not environ.get("CI")
        self._what = what
        self._clock = clock
        self._started = clock()
        self._last = 0.0
        self._width = 0

    def __call__(self, done: int, total: int) -> None:
        if not self._on or total <= 0:
            return
        now = self._clock()
        if now - self._started < PATIENCE or now - self._last < _EVERY:
            return
        self._last = now
        # No guess at the time that is left: a run finds out what else to read as it goes.
        self._draw(f"tclint: {done}/{total} {self._what} ({100 * done // total} %)")

    def _draw(self, text: str) -> None:
        try:
            self._stream.write("\r" + text + " " * max(self._width - len(text), 0))
            self._stream.flush()
        except OSError:
            # The terminal went away; what is found still matters.
            self._on = False
        self._width = len(text)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._on and self._width:
            self._draw("")
            self._stream.write("\r")
            self._stream.flush()
