"""Inductor's compile workers: processes that first import torch, and until then every kernel is compiled one by one."""

from __future__ import annotations


def start_compilers() -> None:
    """Start them now, while the target is imported and built. Inductor itself does so at the first compilation.

    Nothing happens where this process is to compile alone.
    """
    import torch._inductor.async_compile as workers

    start = getattr(workers, "maybe_warm_pool", None)
    if start is not None:
        start()
