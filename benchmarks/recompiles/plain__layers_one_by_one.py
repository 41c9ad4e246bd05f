"""Layers of other widths compiled one by one share their code."""
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(8, width)  # recompile
        self.out = nn.Linear(width, 8)

    def forward(self, x):
        return x + self.out(self.fc(x).relu())  # recompile


def main():
    blocks = [torch.compile(Block(w)) for w in (8, 16, 32, 64)]  # recompile
    x = torch.randn(4, 8)
    for block in blocks:
        x = block(x)


if __name__ == "__main__":
    main()
