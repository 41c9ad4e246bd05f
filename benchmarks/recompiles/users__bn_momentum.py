"""BatchNorm momentum decays (PointNet style)."""
import torch
from torch import nn


def main():
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    f = torch.compile(model)
    for epoch in range(5):
        momentum = 0.5 * 0.7**epoch
        for m in model.modules():
            if isinstance(m, nn.BatchNorm1d):
                m.momentum = momentum  # recompile
        f(torch.randn(8, 4)).sum().backward()  # recompile


main()
