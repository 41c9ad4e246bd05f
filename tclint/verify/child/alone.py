"""A process group of one, for modules that are written for many."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import torch.distributed as distributed

SOON = timedelta(seconds=5)
"""Nobody else answers: what waits for another process raises then."""
_MISSING = re.compile(
    r"process group has not been initialized|distributed is not (?:yet )?initialized|init_process_group|env:// rendezvous"
)

_ALONE = "Pair is not connected"
"""What Gloo says to a process that sends to itself."""


def found_missing(error: BaseException) -> bool:
    """Whether an error asks for a process group that was not there: there is one afterwards."""
    if not distributed.is_available():
        return False
    if not distributed.is_initialized():
        if not _MISSING.search(str(error)):
            return False
        distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1, timeout=SOON)
        return True
    return _ALONE in str(error) and distributed.get_backend() == "gloo" and _pretended()


def _pretended() -> bool:
    """A group in which a process can send to itself, in place of Gloo's: it only pretends to send."""
    try:
        from torch.testing._internal.distributed.fake_pg import FakeStore
    except ImportError:
        return False
    distributed.destroy_process_group()
    distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)
    return True


@contextmanager
def launched_alone() -> Iterator[None]:
    """The environment that a launcher of one process gives to a script: which process it is, and of how many."""
    given = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1"}
    given = {name: value for name, value in given.items() if name not in os.environ}
    os.environ.update(given)
    try:
        yield
    finally:
        for name in given:
            os.environ.pop(name, None)
