"""Images come as uint8, float or half; the eager loader casts them before the compiled model."""
import torch
import torch.nn as nn


class Stem(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, img):
        return self.conv(img).relu()


def make_model():
    stem = torch.compile(Stem())

    def load(img):
        return img.to(torch.float32)

    def run(img):
        return stem(load(img))
    return run


def batches():
    ds = (torch.uint8, torch.float32, torch.float16, torch.float64, torch.int16, torch.uint8)
    return [(torch.ones(1, 3, 6, 6).to(d),) for d in ds]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
