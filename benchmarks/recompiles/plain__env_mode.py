"""The mode comes from the environment; sizes settle."""
import os

import torch

MODE = os.environ.get("COMPILE_MODE", "default")


@torch.compile(mode=MODE)
def f(x):
    return x.sin().sum()


def main():
    for n in (4, 8, 12, 16):
        f(torch.randn(n, 3))


if __name__ == "__main__":
    main()
