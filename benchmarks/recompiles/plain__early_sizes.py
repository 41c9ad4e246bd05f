"""Batches 1 and 0 at the beginning, then many sizes."""
import torch


@torch.compile
def pool(x):  # recompile
    return x.mean(-1) * 2  # recompile


def main():
    for n in (1, 0, 5, 6, 7):
        pool(torch.randn(n, 8))  # recompile


if __name__ == "__main__":
    main()
