"""Keys in other orders."""
import itertools

import torch


@torch.compile
def total(features):
    return sum(v * (i + 1) for i, v in enumerate(features.values()))  # recompile


def main():
    x = torch.randn(3)
    for order in itertools.permutations(("a", "b", "c")):
        total({name: x for name in order})  # recompile


if __name__ == "__main__":
    main()
