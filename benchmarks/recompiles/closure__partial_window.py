"""functools.partial with another int bound each time around one compiled function."""
import functools

import torch


@torch.compile
def smooth(x, window):
    c = x.cumsum(-1)
    return (c[..., window:] - c[..., :-window]) / window


def make_model():
    def run(x, n):
        f = functools.partial(smooth, window=n)
        return f(x)
    return run


def batches():
    x = torch.randn(2, 40)
    return [(x, n) for n in (2, 3, 4, 5, 7, 9)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
