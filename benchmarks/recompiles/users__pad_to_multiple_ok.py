"""Lengths are rounded up to a multiple of 64, and none is above 64."""
import torch
import torch.nn.functional as F


def round_up(n, k=64):
    return (n + k - 1) // k * k


@torch.compile(dynamic=False)
def encode(x):
    return x.cumsum(1).tanh()


def main():
    for n in (10, 20, 40, 60, 33):
        x = torch.randn(2, n)
        encode(F.pad(x, (0, round_up(n) - n)))


main()
