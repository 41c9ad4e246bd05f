"""Tokens back to a square map: the side is int(n ** 0.5)."""
import torch
import torch.nn as nn


class ToMap(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(6, 6, 3, padding=1)

    def forward(self, tok):
        b, n, c = tok.shape
        side = int(n ** 0.5)
        fmap = tok.transpose(1, 2).reshape(b, c, side, side)
        return self.conv(fmap)


def make_model():
    return torch.compile(ToMap())


def batches():
    return [(torch.randn(2, s * s, 6),) for s in (3, 4, 5, 6, 7, 8)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
