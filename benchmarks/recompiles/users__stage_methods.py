"""A GAN with a compiled method for each stage."""
import torch
from torch import nn


class Gan(nn.Module):
    def __init__(self):
        super().__init__()
        self.g, self.d = nn.Linear(4, 4), nn.Linear(4, 1)

    @torch.compile
    def d_loss(self, z, x):
        return self.d(x).mean() - self.d(self.g(z).detach()).mean()

    @torch.compile
    def g_loss(self, z):
        return -self.d(self.g(z)).mean()

    @torch.compile
    def r1(self, x):
        return self.d(x).pow(2).mean()


def main():
    gan = Gan()
    for _ in range(2):
        gan.d_loss(torch.randn(2, 4), torch.randn(2, 4)).backward()
        gan.g_loss(torch.randn(2, 4)).backward()
        gan.r1(torch.randn(2, 4)).backward()


main()
