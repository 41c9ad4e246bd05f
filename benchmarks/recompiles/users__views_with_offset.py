"""Slices of one buffer at other places have the same shape and strides."""
import torch


@torch.compile
def norm(q):
    return q / q.norm(dim=-1, keepdim=True)


buf = torch.randn(10, 4)
for i in range(0, 10, 2):
    norm(buf[i : i + 2])
