"""A long tensor in chunks; the last is smaller; then another tensor with another rest."""
import torch


@torch.compile(dynamic=False)  # recompile
def encode(x):  # recompile
    return x.cumsum(0).sin()


def main():
    for n in (20, 22, 23):
        for part in torch.randn(n, 3).split(8):
            encode(part)  # recompile


main()
