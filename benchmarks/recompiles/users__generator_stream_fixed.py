"""A generator slides a window of one length."""
import torch


def windows(signal, size):
    for i in range(0, len(signal) - size + 1, 5):
        yield signal[i : i + size]


@torch.compile(dynamic=False)
def power(x):
    return x.pow(2).mean()


def main():
    for w in windows(torch.randn(50), 10):
        power(w)


main()
