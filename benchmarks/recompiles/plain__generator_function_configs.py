"""Configs from a generator."""
import torch


def configs():
    for act in ("relu", "tanh"):
        for pool in ("mean", "amax"):
            yield act, pool


@torch.compile
def f(x, act, pool):
    y = getattr(torch, act)(x)  # recompile
    return getattr(y, pool)()  # recompile


def main():
    x = torch.randn(4)
    for act, pool in configs():
        f(x, act, pool)  # recompile


if __name__ == "__main__":
    main()
