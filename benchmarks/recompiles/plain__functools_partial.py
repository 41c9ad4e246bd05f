"""A partial of a compiled function with another k each time."""
import functools

import torch


@torch.compile
def window(x, size):
    return x.unfold(0, size, 1).mean(1)  # recompile


def main():
    x = torch.randn(32)
    for size in (2, 3, 4, 5):
        run = functools.partial(window, size=size)
        run(x)  # recompile


main()
