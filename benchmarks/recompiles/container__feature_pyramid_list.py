"""Detector head over a list of pyramid levels whose number differs by image size."""
import torch
import torch.nn as nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 2, 1)

    def forward(self, feats):
        return torch.cat([self.conv(f).flatten(2) for f in feats], -1)  # recompile


def make_model():
    return torch.compile(Head())


def batches():
    lv = [torch.randn(1, 4, 2 ** k, 2 ** k) for k in range(5, 0, -1)]
    return [(lv[:n],) for n in (3, 4, 5, 2, 3, 1)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
