"""A process group of one, for modules that are written for many."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as distributed

SOON = timedelta(seconds=5)
"""Nobody else answers: what waits for another process raises then."""
_MISSING = re.compile(
    r"process group has not been initialized|distributed is not (?:yet )?initialized|init_process_group|env:// rendezvous"
)


def found_missing(error: BaseException) -> bool:
    """Whether an error asks for a process group and there was none: there is one afterwards."""
    if not _MISSING.search(str(error)) or not distributed.is_available() or distributed.is_initialized():
        return False
    distributed.init_process_group(_backend(), store=distributed.HashStore(), rank=0, world_size=1, timeout=SOON)
    return True


def _backend() -> str:
    """Gloo cannot send what lies on a GPU: it reads the address as one of the host's."""
    return "cpu:gloo,cuda:nccl" if torch.cuda.is_available() and distributed.is_nccl_available() else "gloo"


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
