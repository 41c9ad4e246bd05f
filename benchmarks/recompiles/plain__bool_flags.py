"""Three flags in all combinations."""
import itertools

import torch


@torch.compile
def f(x, a, b, c):
    if a:  # recompile
        x = x + 1
    if b:  # recompile
        x = x * 2
    if c:  # recompile
        x = x.sin()
    return x


def main():
    x = torch.randn(8)
    for a, b, c in itertools.product([True, False], repeat=3):
        f(x, a, b, c)  # recompile


if __name__ == "__main__":
    main()
