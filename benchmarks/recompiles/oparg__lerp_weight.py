"""EMA-like residual mixing: the weight goes to lerp as a float argument."""
import torch
import torch.nn as nn


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8, bias=False)

    def forward(self, a, b, w):
        return torch.lerp(self.proj(a), b, w)  # recompile


def build():
    return torch.compile(Mixer())


def calls():
    a, b = torch.randn(4, 8), torch.randn(4, 8)
    return [(a, b, w) for w in (0.15, 0.25, 0.35, 0.45, 0.55, 0.65)]
