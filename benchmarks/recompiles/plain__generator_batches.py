"""Batches from a generator, of other lengths: settles."""
import torch


def batches():
    for n in (10, 12, 14, 16):
        yield torch.randn(4, n)


@torch.compile
def f(x):
    return x.sum(1)


def main():
    for x in batches():
        f(x)


if __name__ == "__main__":
    main()
