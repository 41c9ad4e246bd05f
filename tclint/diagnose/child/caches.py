"""Compiling as if for the first time: no cache of an earlier compilation, on disk or in memory, shortens it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch._dynamo


@contextmanager
def cold() -> Iterator[None]:
    import torch._inductor.config as config
    import torch._inductor.utils as utils

    fresh = getattr(utils, "fresh_cache", None) or utils.fresh_inductor_cache
    torch._dynamo.reset()
    with fresh(), config.patch(force_disable_caches=True):
        yield


def warm_up(device: str) -> None:
    """One small compilation, so that imports and worker processes are not counted to the first that is measured."""
    layer = torch.nn.Linear(8, 8).to(device)
    torch.compile(layer)(torch.ones(2, 8, device=device)).relu().sum().backward()
    torch._dynamo.reset()
