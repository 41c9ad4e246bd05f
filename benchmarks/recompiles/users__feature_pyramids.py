"""Lists of tensors whose length depends on the image."""
import torch
import torch.nn.functional as F


def pyramid(img, levels):
    out = [img]
    for _ in range(levels - 1):
        out.append(F.avg_pool2d(out[-1], 2))
    return out


@torch.compile
def fuse(levels):  # recompile
    total = 0.0
    for level in levels:  # recompile
        total = total + level.mean((2, 3))
    return total


def main():
    for n in (1, 2, 3, 4):
        fuse(pyramid(torch.randn(1, 3, 32, 32), n))  # recompile


main()
