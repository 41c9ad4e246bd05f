import itertools
import torch


def grid(**space):
    keys = list(space)
    for values in itertools.product(*space.values()):
        yield dict(zip(keys, values))


@torch.compile
def energy(x, scale, reduce):
    y = x.abs() * scale
    return y.mean() if reduce == "mean" else y.sum()


x = torch.randn(16)
for cfg in grid(scale=[1.5, 2.5, 3.5], reduce=["mean"]):
    energy(x, **cfg)
