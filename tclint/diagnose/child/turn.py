"""Turns among the children of one run: they compile together, and whoever measures is alone.

A kernel that another process tries out shares the GPU with the step that is timed: a forward pass of 1.14 ms took 1.47 ms
while two other children compiled. A lock of the system on one file, shared by those who compile: a child that dies gives it
back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


class Turn:
    def __init__(self, path: str = "", ahead: bool = False) -> None:
        """`path`: the file; empty: there is nobody else. `ahead`: alone from now on, until the process ends."""
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600) if path else -1
        self._alone = ahead
        if ahead and path:
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_EX)

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """While nobody measures."""
        with self._held(exclusive=False):
            yield

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """While nobody else compiles or measures."""
        with self._held(exclusive=True):
            yield

    @contextmanager
    def _held(self, exclusive: bool) -> Iterator[None]:
        if self._alone or self._file < 0:
            yield
            return
        # Not on every system; there are only turns where there is CUDA and cores to count.
        import fcntl

        fcntl.flock(self._file, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)
