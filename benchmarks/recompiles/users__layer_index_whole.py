"""The same, compiled as one model."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.scale = 1 / (index + 1)
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return x + self.scale * self.lin(x)


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(i) for i in range(4)])

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x


def main():
    net = torch.compile(Stack())
    for _ in range(4):
        net(torch.randn(2, 4))


main()
