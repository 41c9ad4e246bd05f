"""Guidance is skipped when the scale is at most one; the scale is swept."""
import torch


@torch.compile
def guide(cond, uncond, scale):
    if scale <= 1:  # recompile
        return cond
    return uncond + scale * (cond - uncond)


for scale in (3.0, 5.0, 1.0, 0.5, 7.5):
    guide(torch.rand(3), torch.rand(3), scale)
