"""Decode with a cache that grows by cat, dynamic=False."""
import torch
from torch import nn


class Attn(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d, d) for _ in range(3))

    def forward(self, x, past):
        k, v = self.k(x), self.v(x)
        if past is not None:
            k = torch.cat((past[0], k), 1)  # recompile
            v = torch.cat((past[1], v), 1)  # recompile
        att = (self.q(x) @ k.transpose(1, 2)).softmax(-1)
        return att @ v, (k, v)


@torch.no_grad()
def generate(model, n):
    past, x = None, torch.randn(1, 1, 8)
    for _ in range(n):
        x, past = model(x, past)  # recompile
    return x


def main():
    generate(torch.compile(Attn(), dynamic=False), 6)  # recompile


main()
