"""Each stage of a backbone is compiled apart and all share one forward; stride and channels differ."""
import torch
import torch.nn as nn


class Stage(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, stride=stride, padding=1)
        self.bn = nn.BatchNorm2d(cout)

    def forward(self, x):
        return self.bn(self.conv(x)).relu()


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        cfg = [(3, 8, 1), (8, 16, 2), (16, 24, 2), (24, 32, 1)]
        self.stages = nn.ModuleList(Stage(*c) for c in cfg)
        for s in self.stages:
            s.compile()  # recompile

    def forward(self, x):
        for s in self.stages:
            x = s(x)
        return x


def make_model():
    return Backbone()


def batches():
    return [(torch.randn(2, 3, 16, 16),) for _ in range(3)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
