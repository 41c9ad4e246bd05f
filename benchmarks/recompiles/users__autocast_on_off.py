"""Autocast is on for some calls and off for others, by a flag: two programs."""
import torch


@torch.compile
def mm(a, b):
    return a @ b


for i in range(4):
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bool(i % 2)):
        mm(torch.rand(4, 4), torch.rand(4, 4))
