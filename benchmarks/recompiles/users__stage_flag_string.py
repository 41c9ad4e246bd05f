"""A GAN whose stage is a string attribute that is set in the loop."""
import torch
from torch import nn


class Gan(nn.Module):
    def __init__(self):
        super().__init__()
        self.g, self.d = nn.Linear(4, 4), nn.Linear(4, 1)
        self.stage = "d"

    def forward(self, z, x):
        if self.stage == "d":  # recompile
            return self.d(x).mean() - self.d(self.g(z).detach()).mean()
        if self.stage == "g":
            return -self.d(self.g(z)).mean()
        return self.d(x).pow(2).mean()


def main():
    gan = Gan()
    f = torch.compile(gan)
    for _ in range(2):
        for stage in ("d", "g", "r1"):
            gan.stage = stage  # recompile
            f(torch.randn(2, 4), torch.randn(2, 4)).backward()


main()
