"""Alternating local and global attention, two windows in turn."""
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.window = window
        self.lin = nn.Linear(4, 4)

    @torch.compile
    def forward(self, x):
        if self.window is None:
            return self.lin(x)
        return self.lin(x[:, -self.window :])


def main():
    layers = [Layer(None if i % 2 else 3) for i in range(6)]
    x = torch.randn(2, 8, 4)
    for layer in layers:
        layer(x)


main()
