"""One more hook is registered before each call."""
import torch
from torch import nn


def double(module, args, out):
    return out * 2


def main():
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    f = torch.compile(net)
    for i in range(4):
        f(torch.randn(2, 4))
        net.register_forward_hook(double)


main()
