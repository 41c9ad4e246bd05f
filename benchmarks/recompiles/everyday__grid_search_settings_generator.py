import itertools
import torch
import torch.nn as nn


def grid(**space):
    keys = list(space)
    for values in itertools.product(*space.values()):
        yield dict(zip(keys, values))


@torch.compile
def energy(x, power, reduce):  # recompile
    y = x.abs() ** power
    return y.mean() if reduce == "mean" else y.sum()


x = torch.randn(16)
for cfg in grid(power=[1.5, 2.5, 3.5], reduce=["mean", "sum"]):
    energy(x, **cfg)
