"""Lengths padded to two buckets: two programs."""
import torch
import torch.nn.functional as F


@torch.compile(dynamic=False)
def f(x):
    return x.cumsum(1)


def main():
    for n in (3, 9, 5, 12, 7):
        bucket = 8 if n <= 8 else 16
        f(F.pad(torch.randn(2, n), (0, bucket - n)))


if __name__ == "__main__":
    main()
