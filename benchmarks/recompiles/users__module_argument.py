"""Modules of one class are passed to one compiled function: parameters are inputs."""
import torch
from torch import nn


@torch.compile
def apply_twice(layer, x):
    return layer(layer(x))


experts = [nn.Linear(4, 4) for _ in range(4)]
for e in experts:
    apply_twice(e, torch.rand(2, 4))
