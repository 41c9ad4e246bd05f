"""Two compiled callables, each with one kind of argument."""
import torch


@torch.compile
def encode(x):
    return x.sin()


@torch.compile
def decode(x, flag):
    return x.cos() if flag else x.tan()


def main():
    for n in (4, 5, 6, 7):
        h = encode(torch.randn(n, 8))
        decode(h, True)


if __name__ == "__main__":
    main()
