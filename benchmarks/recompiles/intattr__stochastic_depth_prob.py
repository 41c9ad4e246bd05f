"""The drop probability of an nn.Dropout submodule is raised between steps."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(8, 8)
        self.drop = nn.Dropout(0.0)

    def forward(self, x):
        return self.drop(self.inp(x)).sum(-1)  # recompile


def make_model():
    net = Net()
    fast = torch.compile(net)

    def epoch(x, p):
        net.drop.p = p  # recompile
        return fast(x)
    return epoch


def batches():
    x = torch.randn(4, 8)
    return [(x, 0.05 * i) for i in range(1, 7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
