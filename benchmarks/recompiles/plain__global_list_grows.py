"""A module-level list of hooks' outputs."""
import torch

STATES = []


@torch.compile
def merge(x):
    for s in STATES:  # recompile
        x = x + s
    return x.sin()


def main():
    x = torch.randn(4)
    for _ in range(5):
        STATES.append(merge(x).detach())  # recompile


if __name__ == "__main__":
    main()
