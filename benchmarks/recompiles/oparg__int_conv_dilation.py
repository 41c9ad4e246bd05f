"""A temporal conv whose dilation is chosen per call."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class TemporalConv(nn.Module):
    def __init__(self, c=5, k=3):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(c, c, k) * 0.1)

    def forward(self, sig, rate):
        y = F.conv1d(sig, self.weight, padding=rate, dilation=rate)
        return sig + torch.sigmoid(y)


def make_model():
    return torch.compile(TemporalConv())


def batches():
    sig = torch.randn(2, 5, 64)
    return [(sig, r) for r in (2, 3, 4, 6, 8, 12)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
