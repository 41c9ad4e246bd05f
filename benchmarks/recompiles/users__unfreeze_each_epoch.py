"""One more layer is unfrozen in each epoch."""
import torch
from torch import nn


def main():
    net = nn.Sequential(*[nn.Linear(4, 4) for _ in range(5)])
    net.requires_grad_(False)
    f = torch.compile(net)
    for layer in reversed(net):
        layer.requires_grad_(True)  # recompile
        f(torch.randn(2, 4)).sum().backward()  # recompile


main()
