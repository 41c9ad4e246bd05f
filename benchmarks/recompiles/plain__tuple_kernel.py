"""Kernel sizes as tuples."""
import torch
import torch.nn.functional as F


@torch.compile
def pool(x, kernel):
    return F.avg_pool2d(x, kernel)  # recompile


def main():
    x = torch.randn(1, 1, 12, 12)
    for kernel in [(2, 2), (3, 3), (4, 4), (2, 3)]:
        pool(x, kernel)  # recompile


if __name__ == "__main__":
    main()
