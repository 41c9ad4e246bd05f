"""Multi-scale inference: the image is resized by a Python scale factor inside the compiled forward."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, img, scale):
        small = F.interpolate(img, scale_factor=scale, mode="bilinear", align_corners=False)  # recompile
        return self.enc(small).amax(dim=(2, 3))


def make_model():
    return torch.compile(Segmenter())


def batches():
    img = torch.rand(1, 3, 24, 24)
    return [(img, s) for s in (0.5, 0.75, 1.25, 1.5, 1.75, 2.0)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
