"""Sequence lengths are drawn with numpy; automatic dynamic shapes."""
import numpy as np
import torch


def sample_batch(rng):
    n = int(rng.integers(4, 40))
    return torch.zeros(2, n)


@torch.compile
def step(x):
    return (x + 1).sum()


def run():
    rng = np.random.default_rng(0)
    for _ in range(8):
        step(sample_batch(rng))


run()
