"""Blocks of one class are compiled by themselves and scale by their own index."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.scale = 1 / (index + 1)
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return x + self.scale * self.lin(x)


def main():
    blocks = nn.ModuleList([Block(i) for i in range(4)])
    for block in blocks:
        block.compile()
    x = torch.randn(2, 4)
    for block in blocks:
        x = block(x)


main()
