import torch
import torch.nn as nn


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.taps = []

    def forward(self, x):  # recompile
        kept = []
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i in self.taps:  # recompile
                kept.append(x)
        return x, kept


def main():
    net = Probe().eval()
    run = torch.compile(net)
    x = torch.randn(2, 4)
    for i in range(3):
        net.taps.append(i)
        run(x)


main()
