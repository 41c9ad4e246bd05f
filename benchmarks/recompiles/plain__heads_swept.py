"""Pruning: fewer heads at every stage."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = 8

    def forward(self, x):
        return x.view(x.shape[0], self.heads, -1).sum(1)  # recompile


def main():
    net = Net()
    fast = torch.compile(net)
    while net.heads > 1:
        fast(torch.randn(4, 8))
        net.heads //= 2  # recompile


if __name__ == "__main__":
    main()
