"""A long tensor in chunks; the last is smaller, always the same: two programs."""
import torch


@torch.compile(dynamic=False)
def encode(x):
    return x.cumsum(0).sin()


def main():
    for _ in range(3):
        for part in torch.randn(20, 3).split(8):
            encode(part)


main()
