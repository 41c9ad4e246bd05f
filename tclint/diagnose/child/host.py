"""The host that launches the steps: every core of it gets its turn.

A step of a small model on a GPU is as long as its launches take, and those are the host's work. On a shared machine a
neighbour makes some cores slower, by a third and more, for seconds at a time, and the thread of the backward pass wakes up
on any of them. One core says little: on an H200 the same step took 4.3 to 7.1 ms on 16 cores during 48 s, and two quiet
cores differed by 8 %. But the fastest eighth of all blocks over all cores was 4.44, 4.49, 4.63 ms in three rounds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch

CORES = 16
"""Of more than these, so many are visited: a turn must be long against the move."""
_LAUNCHES = 50
_TASKS = Path("/proc/self/task")
_BACKWARD = "pt_autograd"
"""What PyTorch calls the threads that run the backward pass."""


class Host:
    def __init__(self, device: str, seconds: float) -> None:
        """`seconds`: of one round over the cores."""
        # On a CPU the step itself uses many cores: it is not for us to say which.
        self.cores = _allowed() if device.startswith("cuda") else ()
        self._round = _spread(self.cores)
        self._turn = max(seconds, 0.1) / max(1, len(self._round))
        self._at = -1
        self._threads: tuple[int, ...] = (0,)
        self._device = device
        self._scratch: torch.Tensor | None = None

    @contextmanager
    def settled(self) -> Iterator[None]:
        """On one core at a time; in the end the process may use all of them again."""
        if not self.cores:
            yield
            return
        self._at, self._threads = -1, (0, *_backward())
        try:
            yield
        finally:
            _pin(self._threads, self.cores)

    def visit(self, elapsed: float) -> None:
        """The core whose turn it is, so many seconds after the beginning."""
        if not self.cores:
            return
        at = int(elapsed / self._turn) % len(self._round)
        if at != self._at:
            self._at = at
            _pin(self._threads, (self._round[at],))

    def launch(self) -> float | None:
        """Seconds that one launch takes now, of a kernel that does nothing to speak of. None without a GPU."""
        if not self._device.startswith("cuda"):
            return None
        if self._scratch is None:
            self._scratch = torch.zeros(1, device=self._device)
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(_LAUNCHES):
            self._scratch.add_(1)
        return (time.perf_counter() - start) / _LAUNCHES


def _spread(cores: Sequence[int]) -> tuple[int, ...]:
    """At most `CORES` of them, evenly: neighbours in number often share a core or a cache."""
    count = min(CORES, len(cores))
    return tuple(cores[place * len(cores) // count] for place in range(count))


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
