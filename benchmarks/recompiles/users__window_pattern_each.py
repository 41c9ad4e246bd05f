"""Each layer has a window of its own and builds its band from it."""
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.window = window
        self.lin = nn.Linear(4, 4)

    @torch.compile(dynamic=False)  # recompile
    def forward(self, x):  # recompile
        n = x.shape[1]
        band = torch.ones(n, n).tril().triu(-self.window)  # recompile
        return self.lin(band @ x)


def main():
    layers = nn.ModuleList([Layer(2**i) for i in range(5)])  # recompile
    x = torch.randn(2, 16, 4)
    for layer in layers:
        x = layer(x)


main()
