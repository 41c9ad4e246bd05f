"""What is written two attributes away is not read by the compiled code."""
from types import SimpleNamespace

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.lin(x) * self.cfg.model.gain


def main():
    cfg = SimpleNamespace(loss=SimpleNamespace(weight=0.1), model=SimpleNamespace(gain=2.0))
    net = Net(cfg)
    f = torch.compile(net)
    for w in (0.1, 0.3, 0.5, 0.7):
        cfg.loss.weight = w
        (f(torch.randn(2, 4)).sum() * cfg.loss.weight).backward()


main()
