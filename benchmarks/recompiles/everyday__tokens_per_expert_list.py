import torch
import torch.nn as nn


@torch.compile
def moe(x, counts, weights):  # recompile
    parts = x.split(counts)  # recompile
    return torch.cat([p @ w for p, w in zip(parts, weights)])


def main():
    weights = [torch.randn(4, 4) for _ in range(3)]
    for counts in ([4, 4, 4], [2, 6, 4], [1, 3, 8], [5, 5, 2]):
        moe(torch.randn(12, 4), counts, weights)


main()
