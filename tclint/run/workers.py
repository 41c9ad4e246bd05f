"""The parts of a run in several processes.

Parts do not depend on each other, so the order they finish in does not matter: results come back in the order of the
parts, whatever the number of processes. Workers are forked: the program that the parent has read is theirs as it is.

Each worker has a pipe of its own to the parent. A pipe that ends says that the process at its other end is gone: a
worker then ends by itself, and the parent runs the parts that a lost worker had taken.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

from tclint.program import Read, reads

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from tclint.run.parts import Part, PartRunner
    from tclint.run.results import Entered, Result

_ENOUGH: Final = 300
"""Files from which on a second process pays."""
_CHUNK: Final = 2
_PER_PROCESSOR: Final = 4
"""More processes than that for each processor only get in each other's way."""

Answer = tuple[Any, list[Read]]
"""The result of a part, and what it was read from."""


def processes(wanted: int, files: int) -> int:
    """How many processes a run uses. 0 asks for what pays."""
    if not hasattr(os, "fork"):
        return 1
    if wanted:
        # A repository's configuration may ask for thousands.
        return min(wanted, max(_PER_PROCESSOR * available(), _PER_PROCESSOR))
    return available() if files >= _ENOUGH and sys.platform != "darwin" else 1


def available() -> int:
    """The processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_parts(runner: PartRunner, parts: Sequence[Part], jobs: int, packed: bool) -> Iterator[Answer]:
    """The result of each part and what it was read from, in order.

    `packed`: as plain values, which can be kept. Results from other processes always are.
    """
    if jobs <= 1 or len(parts) <= _CHUNK:
        for part in parts:
            result, read = _run(runner, part, packed)
            yield result.packed() if packed else result, read
        return
    # Neighbours share files: they go to the same worker.
    chunks = [parts[i : i + _CHUNK] for i in range(0, len(parts), _CHUNK)]
    team = _Team(runner, chunks, min(jobs, len(chunks)))
    try:
        for number in range(len(chunks)):
            yield from team.answers(number)
    finally:
        team.end()


class _Team:
    """Some workers and the chunks they share. A worker gets its next chunk with the answer to the one before."""

    def __init__(self, runner: PartRunner, chunks: Sequence[Sequence[Part]], size: int) -> None:
        self._runner = runner
        self._chunks = chunks
        self._next = 0
        self._done: dict[int, list[Answer]] = {}
        self._taken: dict[Connection, int] = {}
        """Who works on which chunk."""
        self._pids: dict[Connection, int] = {}
        for _ in range(size):
            self._start()

    def answers(self, number: int) -> list[Answer]:
        """What one chunk gave."""
        from multiprocessing.connection import wait

        while number not in self._done:
            if number not in self._taken.values() and number < self._next:
                # Its worker is gone, killed by somebody or for its memory: what it had taken is done here.
                self._done[number] = _run_chunk(self._runner, self._chunks[number])
                break
            if not self._taken:
                self._next = max(self._next, number + 1)
                continue
            heard = wait(list(self._taken))
            for worker in [worker for worker in self._taken if worker in heard]:
                self._hear(worker)
        return self._done.pop(number)

    def end(self) -> None:
        """Send everybody away."""
        for worker, pid in self._pids.items():
            worker.close()
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self._pids.clear()

    def _start(self) -> None:
        from multiprocessing.connection import Pipe

        ours, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if not pid:
            # With the parent's ends of all pipes closed, a pipe ends with the parent.
            for other in (ours, *self._pids):
                other.close()
            _work(self._runner, self._chunks, theirs)
        theirs.close()
        self._pids[ours] = pid
        self._hand_out(ours)

    def _hand_out(self, worker: Connection) -> None:
        if self._next < len(self._chunks):
            number = self._next
            self._next += 1
            self._taken[worker] = number
            try:
                worker.send_bytes(b"%d" % number)
            except OSError:
                self._lose(worker)

    def _hear(self, worker: Connection) -> None:
        try:
            answer = pickle.loads(worker.recv_bytes())
        except (EOFError, OSError):
            self._lose(worker)
            return
        number = self._taken.pop(worker)
        if isinstance(answer, BaseException):
            raise answer
        self._done[number] = answer
        self._hand_out(worker)

    def _lose(self, worker: Connection) -> None:
        self._taken.pop(worker, None)
        pid = self._pids.pop(worker)
        worker.close()
        os.waitpid(pid, 0)


def _work(runner: PartRunner, chunks: Sequence[Sequence[Part]], parent: Connection) -> NoReturn:
    """A worker: chunks by their number, until the parent has no more or is gone."""
    # Ctrl-C is the parent's to handle; it ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        while True:
            number = int(parent.recv_bytes())
            try:
                answer: Any = _run_chunk(runner, chunks[number])
            except Exception as error:
                answer = error
            parent.send_bytes(pickle.dumps(answer))
    except (EOFError, OSError):
        os._exit(0)
    finally:
        os._exit(1)


def _run_chunk(runner: PartRunner, parts: Sequence[Part]) -> list[Answer]:
    done = [_run(runner, part, packed=True) for part in parts]
    return [(result.packed(), read) for result, read in done]


def _run(runner: PartRunner, part: Part, packed: bool) -> tuple[Entered | Result, list[Read]]:
    with runner.program.watched() as touched:
        result = runner.run(part)
    # Here and not where it is kept: this process has read the files.
    return result, reads(touched) if packed else []
