import torch
import torch.nn as nn

net = nn.Linear(4, 1)


@torch.compile
def micro_step(x, y, accum):
    return (net(x) - y).pow(2).mean() / accum


for accum in (2, 4, 8):
    for i in range(accum):
        x, y = torch.randn(8, 4), torch.randn(8, 1)
        micro_step(x, y, accum).backward()
