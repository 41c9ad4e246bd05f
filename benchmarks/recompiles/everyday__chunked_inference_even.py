import torch
import torch.nn as nn

net = nn.Linear(8, 8)


@torch.compile(dynamic=False)
def fwd(x):
    return net(x).relu()


def chunked(x, size):
    return torch.cat([fwd(c) for c in x.split(size)])


with torch.no_grad():
    for n in (20, 40, 60):
        chunked(torch.randn(n, 8), 10)
