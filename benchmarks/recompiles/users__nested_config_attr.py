"""A setting two attributes away is written between the calls."""
from types import SimpleNamespace

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.lin(x) * self.cfg.loss.weight


def main():
    cfg = SimpleNamespace(loss=SimpleNamespace(weight=0.1), name="run")
    net = Net(cfg)
    f = torch.compile(net)
    for w in (0.1, 0.3, 0.5, 0.7):
        cfg.loss.weight = w
        f(torch.randn(2, 4)).sum().backward()


main()
