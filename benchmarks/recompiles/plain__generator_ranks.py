"""A generator gives tensors of other ranks."""
import torch


def batches():
    x = torch.randn(16)
    yield x
    yield x.reshape(4, 4)
    yield x.reshape(2, 2, 4)


@torch.compile
def f(x):  # recompile
    return x.sum(-1)  # recompile


def main():
    for x in batches():
        f(x)  # recompile


if __name__ == "__main__":
    main()
