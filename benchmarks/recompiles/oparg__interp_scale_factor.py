"""Multi-scale test: the scale factor of F.interpolate is a float argument."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Seg(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 2, 3, padding=1)

    def forward(self, img, scale):
        small = F.interpolate(img, scale_factor=scale, mode="bilinear", align_corners=False)  # recompile
        return self.conv(small).mean((2, 3))


def make_model():
    return torch.compile(Seg())


def batches():
    x = torch.randn(1, 3, 16, 16)
    return [(x, s) for s in (0.5, 0.75, 1.25, 1.5, 1.75, 2.5)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
