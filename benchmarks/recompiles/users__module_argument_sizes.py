"""Modules of several widths are passed to one compiled function."""
import torch
from torch import nn


@torch.compile
def encode(layer, x):  # recompile
    return torch.relu(layer(x)).sum(-1)  # recompile


for width in (4, 8, 16, 32):
    encode(nn.Linear(3, width), torch.rand(2, 3))  # recompile
