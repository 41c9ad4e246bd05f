"""The host that launches the steps: on which core, and whether a neighbour slows it down just now.

A step of a small model on a GPU is as long as its launches take, and those are the host's work. On a shared machine a
neighbour makes a core slower for seconds at a time, by a third and more; a median over such a phase is the neighbour's.
A fixed piece of work, timed before and after each block, tells the phases apart; what other processes of the same system
take is told by its scheduler.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SLOWER = 1.12
"""How much longer than at best the fixed work may take on a quiet host: a neighbour costs a third, turbo states 6 %."""
_ROUNDS = 20_000
"""About half a millisecond: long against the clock, short against a block."""
_TASKS = Path("/proc/self/task")
_QUEUE = Path("/proc/thread-self/schedstat")
_BACKWARD = "pt_autograd"
"""What PyTorch calls the threads that run the backward pass."""


class Host:
    def __init__(self, device: str) -> None:
        # On a CPU the step itself uses many cores: it is not for us to say which.
        self.cores = _allowed() if device.startswith("cuda") else ()
        self._pinned = -1
        self.best = float("inf")
        """What the fixed work takes when nobody disturbs it."""
        for _ in range(10):
            self.pace()

    def pace(self) -> float:
        """What the fixed work takes just now."""
        took = statistics.median(_work() for _ in range(3))
        self.best = min(self.best, took)
        return took

    def waited(self) -> float:
        """Seconds that this thread has stood in the queue for a core so far; 0 where the system does not tell."""
        try:
            return int(_QUEUE.read_text().split()[1]) / 1e9
        except (OSError, IndexError, ValueError):
            return 0.0

    @contextmanager
    def settled(self) -> Iterator[None]:
        """Whatever cores are chosen meanwhile, in the end the process may use all of them again."""
        allowed = self.cores
        try:
            yield
        finally:
            if allowed:
                _pin(allowed)
                self._pinned = -1

    def chosen(self) -> float:
        """The pace on a core that is quiet: the one it was last, or the first of the others, or any.

        One core, together with the threads of the backward pass, which would else wake up anywhere.
        """
        if not self.cores:
            return self.pace()
        for number, core in enumerate(self.cores):
            if core != self._pinned:
                _pin((core,))
                self._pinned = core
            pace = self.pace()
            if pace <= self.best * SLOWER:
                self.cores = (*self.cores[number:], *self.cores[:number])
                break
        return pace


def _allowed() -> tuple[int, ...]:
    """The cores this process may use, where the system lets it choose among them."""
    cores = tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_setaffinity") else ()
    return cores if len(cores) > 1 else ()


def _pin(cores: tuple[int, ...]) -> None:
    os.sched_setaffinity(0, cores)
    for task in _TASKS.iterdir():
        try:
            if (task / "comm").read_text().startswith(_BACKWARD):
                os.sched_setaffinity(int(task.name), cores)
        except (FileNotFoundError, ProcessLookupError):
            continue  # a thread that has ended meanwhile


def _work() -> float:
    start = time.perf_counter()
    for _ in range(_ROUNDS):
        pass
    return time.perf_counter() - start
