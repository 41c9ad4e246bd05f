import random
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, depth=4):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(depth))

    def forward(self, x, keep):  # recompile
        for i, layer in enumerate(self.layers):
            if keep[i]:  # recompile
                x = x + layer(x)
        return x


def main():
    random.seed(0)
    net = torch.compile(Net())
    for step in range(8):
        keep = [random.random() > 0.3 for _ in range(4)]
        net(torch.randn(2, 4), keep).sum().backward()


main()
