"""The parts of a run in several processes.

Parts do not depend on each other, so the order they finish in does not matter: results come back in the order of the
tasks, whatever the number of processes. Workers are forked: the program that the parent has read is theirs as it is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from tclint.run.parts import Bench, Group, Result

_ENOUGH: Final = 300
"""Files from which on a second process pays."""
_CHUNK: Final = 2


class Task(NamedTuple):
    """One part: the outermost roots of some files, some of their other roots, or the rules about whole files."""

    kind: Literal["files", "roots", "rules"]
    paths: tuple[str, ...]
    ordinals: tuple[tuple[int, ...], ...] = ()
    """For each file, the roots to enter."""


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


def run_tasks(bench: Bench, tasks: Sequence[Task], jobs: int, packed: bool) -> Iterator[tuple[Any, list[str]]]:
    """The result of each task and the paths of the files it was read from, in order.

    `packed`: as plain values, which can be kept. Results from other processes always are.
    """
    if jobs <= 1 or len(tasks) <= _CHUNK:
        for task in tasks:
            result, read = _run(bench, task)
            yield result.packed() if packed else result, read
        return
    import multiprocessing

    global _bench
    _bench = bench
    # Neighbours share files: they go to the same worker.
    chunks = [tasks[i : i + _CHUNK] for i in range(0, len(tasks), _CHUNK)]
    pool = multiprocessing.get_context("fork").Pool(min(jobs, len(chunks)), initializer=_start)
    try:
        for results in pool.imap(_run_chunk, chunks):
            yield from results
        pool.close()
    finally:
        pool.terminate()
        pool.join()
        _bench = None


_bench: Bench | None = None


def _start() -> None:
    import signal

    # Ctrl-C is the parent's to handle; it ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run_chunk(tasks: Sequence[Task]) -> list[tuple[Any, list[str]]]:
    assert _bench is not None
    done = [_run(_bench, task) for task in tasks]
    return [(result.packed(), read) for result, read in done]


def _run(bench: Bench, task: Task) -> tuple[Group | Result, list[str]]:
    modules = [bench.module(path) for path in task.paths]
    result: Group | Result
    with bench.program.watched() as touched:
        if task.kind == "files":
            result = bench.group(modules)
        elif task.kind == "roots":
            result = bench.assumed(zip(modules, task.ordinals, strict=True))
        else:
            result = bench.whole_files(modules)
    return result, sorted(m.path for m in touched)
