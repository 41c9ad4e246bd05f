"""Another function for each call."""
import torch
import torch.nn.functional as F


@torch.compile
def apply(fn, x):
    return fn(x) + 1  # recompile


def main():
    x = torch.randn(8)
    for fn in (torch.relu, torch.tanh, F.gelu, torch.sigmoid):
        apply(fn, x)  # recompile


if __name__ == "__main__":
    main()
