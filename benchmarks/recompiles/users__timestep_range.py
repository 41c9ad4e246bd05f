"""Timesteps as ints of a reversed range, made into a tensor inside."""
import torch


@torch.compile
def embed(x, t):
    freq = torch.arange(4) * 0.1
    return x + torch.sin(t * freq)


x = torch.rand(4)
for t in reversed(range(0, 1000, 200)):
    x = embed(x, t)
