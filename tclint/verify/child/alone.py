"""A process group of one, for modules that are written for many."""

from __future__ import annotations

import re

import torch.distributed as distributed

_MISSING = re.compile(
    r"process group has not been initialized|distributed is not (?:yet )?initialized|init_process_group"
)


def found_missing(error: BaseException) -> bool:
    """Whether an error asks for a process group and there was none: there is one afterwards."""
    if not _MISSING.search(str(error)) or not distributed.is_available() or distributed.is_initialized():
        return False
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    return True
