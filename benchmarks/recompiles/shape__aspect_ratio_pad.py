"""Pads to a square: which side is padded depends on h against w."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class SquarePad(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 2, 3)

    def forward(self, img):
        h, w = img.shape[2:]
        if h > w:  # recompile
            img = F.pad(img, (0, h - w, 0, 0))
        elif w > h:  # recompile
            img = F.pad(img, (0, 0, 0, w - h))
        return self.conv(img)


def make_model():
    return torch.compile(SquarePad())


def batches():
    return [(torch.randn(1, 3, h, w),) for h, w in ((10, 8), (14, 9), (9, 15), (12, 12), (11, 17), (16, 7))]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
