"""Lengths padded to four buckets with dynamic=False."""
import torch
import torch.nn.functional as F

BUCKETS = (8, 16, 32, 64)


@torch.compile(dynamic=False)  # recompile
def f(x):  # recompile
    return x.cumsum(1)


def main():
    for n in (5, 12, 30, 50):
        bucket = next(b for b in BUCKETS if b >= n)
        f(torch.zeros(2, bucket))  # recompile


if __name__ == "__main__":
    main()
