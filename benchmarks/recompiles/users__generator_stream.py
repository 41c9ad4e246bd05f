"""A generator yields longer and longer windows."""
import torch


def windows(signal, first, last):
    for n in range(first, last):
        yield signal[-n:]


@torch.compile(dynamic=False)  # recompile
def power(x):  # recompile
    return x.pow(2).mean()


def main():
    for w in windows(torch.randn(50), 10, 16):
        power(w)  # recompile


main()
