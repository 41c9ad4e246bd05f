"""Chunks by range; the rest has one element in one corpus: 8, 5, 1."""
import torch


@torch.compile
def encode(x):  # recompile
    return x.cumsum(0).sin()


def main():
    for corpus in (torch.randn(16, 3), torch.randn(21, 3), torch.randn(17, 3)):
        for i in range(0, len(corpus), 8):
            encode(corpus[i : i + 8])  # recompile


main()
