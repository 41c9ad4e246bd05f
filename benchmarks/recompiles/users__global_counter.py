"""A module-level counter is read in compiled code."""
import torch

STEP = 0


@torch.compile
def noisy(x):
    return x + torch.rand_like(x) * (0.5 ** (STEP // 2))  # recompile


def train():
    global STEP
    for _ in range(6):
        noisy(torch.zeros(3))
        STEP += 1  # recompile


train()
