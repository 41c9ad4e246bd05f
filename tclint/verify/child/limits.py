"""A limit on the time that code of the project may take."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager


class TooLong(Exception):
    """A piece of the program took longer than it is worth."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Ends what runs inside the block when it has used its time of the processor: a busy machine is not to blame.

    Nor is one of many cores: torch's threads spin while they wait for each other, and the timer counts them all. The time is
    that of this thread, or as much as every core could have worked for it meanwhile, where others do the work.
    """
    begun, whole = time.thread_time(), time.process_time()

    def stop(*_: object) -> None:
        left = seconds - (time.thread_time() - begun)
        if left > 0 and time.process_time() - whole < seconds * (os.cpu_count() or 1):
            signal.setitimer(signal.ITIMER_PROF, left)
            return
        raise TooLong(f"longer than {seconds:g} s")

    outer, _ = signal.getitimer(signal.ITIMER_PROF)
    if 0 < outer <= seconds:
        # The block around this one ends sooner.
        yield
        return
    handler = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
        if outer:
            used = time.process_time() - whole
            signal.setitimer(signal.ITIMER_PROF, max(0.001, outer - used))
