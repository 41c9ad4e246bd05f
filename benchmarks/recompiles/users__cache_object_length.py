"""The cache object counts the tokens it has seen, and attention slices with it."""
import torch
from torch import nn


class Cache:
    def __init__(self, n, d):
        self.k = torch.zeros(1, n, d)
        self.seen = 0

    def update(self, k):
        self.k[:, self.seen : self.seen + 1] = k
        self.seen += 1
        return self.k[:, : self.seen]


class Attn(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.q, self.kp = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, cache):
        k = cache.update(self.kp(x))
        return (self.q(x) @ k.transpose(1, 2)).softmax(-1) @ k


@torch.no_grad()
def main():
    model = torch.compile(Attn())
    cache = Cache(32, 8)
    x = torch.randn(1, 1, 8)
    for _ in range(6):
        x = model(x, cache)


main()
