"""Residual conv blocks with dilation 1, 2, 4, 8, each compiled with Module.compile()."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Residual(nn.Module):
    def __init__(self, ch, dilation):
        super().__init__()
        self.dilation = dilation
        self.weight = nn.Parameter(torch.randn(ch, ch, 3) * 0.1)

    def forward(self, x):
        y = F.conv1d(x, self.weight, padding=self.dilation, dilation=self.dilation)  # recompile
        return x + F.gelu(y)


class TCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Residual(4, 2 ** i) for i in range(4)])
        for blk in self.blocks:
            blk.compile()  # recompile

    def forward(self, x):
        for blk in self.blocks:
            x = blk(x)
        return x


def make_model():
    return TCN()


def batches():
    return [(torch.randn(2, 4, 32),) for _ in range(4)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
