"""Lengths are rounded up to a multiple of 16: still many programs under dynamic=False."""
import torch
import torch.nn.functional as F


def round_up(n, k=16):
    return (n + k - 1) // k * k


@torch.compile(dynamic=False)  # recompile
def encode(x):
    return x.cumsum(1).tanh()  # recompile


def main():
    for n in (10, 20, 40, 70, 33):
        x = torch.randn(2, n)
        encode(F.pad(x, (0, round_up(n) - n)))  # recompile


main()
