"""A limit on the time that code of the project may take."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class TooLong(Exception):
    """A piece of the program took longer than it is worth."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Ends what runs inside the block when it has used its time of the processor: a busy machine is not to blame."""

    def stop(*_: object) -> None:
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
        unused, _ = signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
        if outer:
            signal.setitimer(signal.ITIMER_PROF, max(0.001, outer - (seconds - unused)))
