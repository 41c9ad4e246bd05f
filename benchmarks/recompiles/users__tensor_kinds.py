"""Parameters, buffers and plain tensors of one shape go through one function."""
import torch
from torch import nn


@torch.compile
def norm(w):
    return w.pow(2).sum().sqrt()


def main():
    net = nn.BatchNorm1d(4)
    for _ in range(3):
        for w in (net.weight, net.bias):
            norm(w)


main()
