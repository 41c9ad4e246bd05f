from typing import NamedTuple

import torch


class Opts(NamedTuple):
    mode: str
    scale: float = 1.0


@torch.compile
def resample(x, opts):  # recompile
    if opts.mode == "mean":  # recompile
        return x.mean(-1) * opts.scale
    if opts.mode == "max":
        return x.amax(-1) * opts.scale
    return x[..., 0] * opts.scale


x = torch.randn(3, 4)
for mode in ("mean", "max", "first"):
    resample(x, Opts(mode))
