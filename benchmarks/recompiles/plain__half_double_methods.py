"""Casts by method name."""
import torch


@torch.compile
def energy(x):  # recompile
    return (x * x).mean()  # recompile


def main():
    x = torch.randn(4, 8)
    for y in (x, x.double(), x.half(), x.bfloat16()):
        energy(y)  # recompile


main()
