"""Multi-scale training: a size drawn for every batch, both sides alike."""
import random

import torch
import torch.nn.functional as F


@torch.compile
def resize(x, size):
    return F.interpolate(x, size=(size, size)).mean()


def main():
    random.seed(0)
    x = torch.randn(1, 3, 16, 16)
    for _ in range(6):
        resize(x, random.choice([8, 12, 20, 24]))


if __name__ == "__main__":
    main()
