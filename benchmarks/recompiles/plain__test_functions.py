"""Tests that each call with one value: each is a process of its own in a runner, but here a script calls all."""
import torch


@torch.compile
def f(x, dim):
    return x.sum(dim)


def check(dim):
    f(torch.randn(2, 3, 4), dim)


def main():
    check(0)
    check(0)


if __name__ == "__main__":
    main()
