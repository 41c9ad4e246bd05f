"""Decoders of several subclasses share a compiled forward that reads a class constant."""
import torch
from torch import nn


class Pool(nn.Module):
    kernel = 2

    @torch.compile
    def forward(self, x):  # recompile
        return torch.nn.functional.avg_pool1d(x, self.kernel)  # recompile


class Pool3(Pool):
    kernel = 3


class Pool4(Pool):
    kernel = 4


for pool in (Pool(), Pool3(), Pool4()):
    pool(torch.rand(1, 2, 12))  # recompile
