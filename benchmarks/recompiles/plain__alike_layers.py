"""Layers that are alike share one program."""
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return x + self.fc(x).relu()


def main():
    blocks = [torch.compile(Block(8)) for _ in range(4)]
    x = torch.randn(4, 8)
    for block in blocks:
        x = block(x)


if __name__ == "__main__":
    main()
