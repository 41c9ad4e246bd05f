import torch
import torch.nn as nn

net = nn.Linear(8, 8)


@torch.compile(dynamic=False)  # recompile
def fwd(x):  # recompile
    return net(x).relu()


def chunked(x, size):
    return torch.cat([fwd(c) for c in x.split(size)])


with torch.no_grad():
    data = torch.randn(50, 8)
    for size in (10, 20, 25):
        chunked(data, size)
