"""The parts of a run in several processes.

Parts do not depend on each other, so the order they finish in does not matter: results come back in the order of the
parts, whatever the number of processes. Workers are forked: the program that the parent has read is theirs as it is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tclint.run.parts import Part, PartRunner
    from tclint.run.results import Entered, Result

_ENOUGH: Final = 300
"""Files from which on a second process pays."""
_CHUNK: Final = 2


def processes(wanted: int, files: int) -> int:
    """How many processes a run uses. 0 asks for what pays."""
    if not hasattr(os, "fork"):
        return 1
    if wanted:
        return wanted
    return available() if files >= _ENOUGH and sys.platform != "darwin" else 1


def available() -> int:
    """The processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_parts(runner: PartRunner, parts: Sequence[Part], jobs: int, packed: bool) -> Iterator[tuple[Any, list[str]]]:
    """The result of each part and the paths of the files it was read from, in order.

    `packed`: as plain values, which can be kept. Results from other processes always are.
    """
    if jobs <= 1 or len(parts) <= _CHUNK:
        for part in parts:
            result, read = _run(runner, part)
            yield result.packed() if packed else result, read
        return
    import multiprocessing

    global _runner
    _runner = runner
    # Neighbours share files: they go to the same worker.
    chunks = [parts[i : i + _CHUNK] for i in range(0, len(parts), _CHUNK)]
    pool = multiprocessing.get_context("fork").Pool(min(jobs, len(chunks)), initializer=_start)
    try:
        for results in pool.imap(_run_chunk, chunks):
            yield from results
        pool.close()
    finally:
        pool.terminate()
        pool.join()
        _runner = None


_runner: PartRunner | None = None


def _start() -> None:
    import signal

    # Ctrl-C is the parent's to handle; it ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run_chunk(parts: Sequence[Part]) -> list[tuple[Any, list[str]]]:
    assert _runner is not None
    done = [_run(_runner, part) for part in parts]
    return [(result.packed(), read) for result, read in done]


def _run(runner: PartRunner, part: Part) -> tuple[Entered | Result, list[str]]:
    with runner.program.watched() as touched:
        result = runner.run(part)
    return result, sorted(m.path for m in touched)
