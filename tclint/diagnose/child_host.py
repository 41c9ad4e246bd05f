"""The host that launches the steps: on which core, and whether a neighbour slows it down just now.

A step of a small model on a GPU is as long as its launches take, and those are the host's work. On a shared machine a
neighbour makes a core slower for seconds at a time, by a third and more, and the thread of the backward pass wakes up on
any core. So everything stays on one core while that is quiet, and goes to the next when it is not.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

SLOWER = 1.12
"""How much longer than at best a fixed piece of work may take on a quiet core: a neighbour costs a third, turbo states
6 %."""
_ROUNDS = 20_000
"""About half a millisecond: long against the clock, short against a block."""
_TASKS = Path("/proc/self/task")
_BACKWARD = "pt_autograd"
"""What PyTorch calls the threads that run the backward pass."""


class Host:
    def __init__(self, device: str) -> None:
        # On a CPU the step itself uses many cores: it is not for us to say which.
        self.cores = _allowed() if device.startswith("cuda") else ()
        self._at = 0
        self._threads: tuple[int, ...] = (0,)
        self._best = float("inf")

    @contextmanager
    def settled(self) -> Iterator[None]:
        """On one core; in the end the process may use all of them again."""
        if not self.cores:
            yield
            return
        self._threads = (0, *_backward())
        _pin(self._threads, (self.cores[self._at],))
        try:
            yield
        finally:
            _pin(self._threads, self.cores)

    def move(self) -> None:
        """To the next core, where this one is slower than one has been. Only one step: a search would take the time."""
        if not self.cores:
            return
        pace = statistics.median(_work() for _ in range(3))
        self._best = min(self._best, pace)
        if pace > self._best * SLOWER:
            self._at = (self._at + 1) % len(self.cores)
            _pin(self._threads, (self.cores[self._at],))


def _allowed() -> tuple[int, ...]:
    """The cores this process may use, where the system lets it choose among them."""
    cores = tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_setaffinity") else ()
    return cores if len(cores) > 1 else ()


def _backward() -> tuple[int, ...]:
    """The threads of the backward pass, which else wake up on any core. There are some once a step has run."""
    found = []
    for task in _TASKS.iterdir():
        try:
            if (task / "comm").read_text().startswith(_BACKWARD):
                found.append(int(task.name))
        except (FileNotFoundError, ProcessLookupError):
            continue  # a thread that has ended meanwhile
    return tuple(found)


def _pin(threads: Sequence[int], cores: Sequence[int]) -> None:
    for thread in threads:
        os.sched_setaffinity(thread, cores)


def _work() -> float:
    start = time.perf_counter()
    for _ in range(_ROUNDS):
        pass
    return time.perf_counter() - start
