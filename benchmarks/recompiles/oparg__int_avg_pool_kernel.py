"""Spatial pyramid: the kernel of avg_pool2d is an argument."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class PyramidLevel(nn.Module):
    def __init__(self):
        super().__init__()
        self.lat = nn.Conv2d(4, 4, 1)

    def forward(self, feat, k):
        return self.lat(F.avg_pool2d(feat, kernel_size=k, stride=k)).mean((2, 3))  # recompile


def make_model():
    return torch.compile(PyramidLevel())


def batches():
    f = torch.randn(1, 4, 24, 24)
    return [(f, k) for k in (2, 3, 4, 6, 8)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
