"""The processes in which Inductor compiles kernels, ready before the first of them is wanted.

By default Inductor starts a program that imports torch before it can compile, and compiles in the process itself until then.
A diagnosis has many short processes, each with a first step that somebody waits for: its workers are forks of the process,
which has imported all they need.
"""

from __future__ import annotations

import sys

import torch._inductor.config
from torch._inductor.async_compile import AsyncCompile

AS_USERS_DO = ("latency", "shapes")
"""They tell how long a first step takes: there the workers start as they do in a program of the user's."""


def start(diagnostic: str) -> None:
    """Fork the workers of this process, before its model takes memory that they would share."""
    # Not in the oldest releases.
    begin = getattr(AsyncCompile, "use_process_pool", None)
    if begin is None or diagnostic in AS_USERS_DO or not sys.platform.startswith("linux"):
        return
    torch._inductor.config.worker_start_method = "fork"
    begin()
