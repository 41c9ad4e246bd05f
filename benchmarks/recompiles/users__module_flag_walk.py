"""All modules get a flag once before training."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.residual = False

    def forward(self, x):
        return x + self.lin(x) if self.residual else self.lin(x)


def main():
    model = nn.Sequential(Block(), Block())
    for m in model.modules():
        if isinstance(m, Block):
            m.residual = True
    f = torch.compile(model)
    for epoch in range(5):
        f(torch.randn(2, 4)).sum().backward()


main()
