"""A compiled function takes a dimension from a tuple of ints."""
import torch


@torch.compile
def reduce(x, dim):  # recompile
    return x.sum(dim)  # recompile


x = torch.rand(2, 3, 4, 5)
for dim in range(4):
    reduce(x, dim)  # recompile
