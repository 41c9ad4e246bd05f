"""A dataclass batch of tensors with an optional mask and weights, in all four combinations."""
from dataclasses import dataclass
from typing import Optional

import torch


@dataclass
class Batch:
    x: torch.Tensor
    mask: Optional[torch.Tensor] = None
    weight: Optional[torch.Tensor] = None


@torch.compile
def total(b):  # recompile
    v = b.x
    if b.mask is not None:  # recompile
        v = v * b.mask
    if b.weight is not None:  # recompile
        v = v * b.weight
    return v.sum()


x, m, w = torch.rand(3, 4)
for b in (Batch(x), Batch(x, m), Batch(x, None, w), Batch(x, m, w)):
    total(b)  # recompile
