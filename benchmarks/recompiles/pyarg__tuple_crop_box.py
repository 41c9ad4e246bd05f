"""A crop box of four Python ints taken apart into slices."""
import torch
import torch.nn as nn


class CropEmbed(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, img, box):
        top, left, h, w = box
        patch = self.proj(img)[:, :, top:top + h, left:left + w]
        return patch.mean(dim=(2, 3))


def make_model():
    return torch.compile(CropEmbed())


def batches():
    img = torch.rand(1, 3, 40, 40)
    return [(img, b) for b in ((2, 3, 10, 12), (4, 5, 11, 13), (6, 7, 14, 9), (3, 8, 15, 16), (5, 9, 8, 10))]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
