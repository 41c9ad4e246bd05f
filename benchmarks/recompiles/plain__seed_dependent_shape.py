"""Random crops of random sizes from a large image: both dims vary at once and settle."""
import random

import torch


@torch.compile
def f(x):
    return x.mean()


def main():
    random.seed(1)
    image = torch.randn(3, 64, 64)
    for _ in range(5):
        h, w = random.randint(10, 30), random.randint(31, 60)
        f(image[:, :h, :w])


if __name__ == "__main__":
    main()
