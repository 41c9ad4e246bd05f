import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, depth=4):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(depth))

    def forward(self, x, keep):
        for i, layer in enumerate(self.layers):
            x = x + keep[i] * layer(x)
        return x


def main():
    net = torch.compile(Net())
    for step in range(8):
        keep = (torch.rand(4) > 0.3).float()
        net(torch.randn(2, 4), keep).sum().backward()


main()
