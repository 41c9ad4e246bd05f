"""Sequence lengths are drawn with numpy; static shapes."""
import numpy as np
import torch


def sample_batch(rng):
    n = int(rng.integers(4, 40))
    return torch.zeros(2, n)


@torch.compile(dynamic=False)
def step(x):  # recompile
    return (x + 1).sum()


def run():
    rng = np.random.default_rng(0)
    for _ in range(8):
        step(sample_batch(rng))  # recompile


run()
