"""Gamma correction with a Python exponent."""
import torch
import torch.nn as nn


class Tone(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Conv2d(3, 3, 1)

    def forward(self, img, gamma):
        lin = torch.sigmoid(self.mix(img))
        return lin ** gamma  # recompile


def build():
    return torch.compile(Tone())


def calls():
    img = torch.rand(1, 3, 6, 6)
    return [(img, g) for g in (1.8, 2.0, 2.2, 2.4, 2.6, 1.6)]
