"""Static cache written at a position tensor."""
import torch
import torch.nn as nn


class StaticAttn(nn.Module):
    def __init__(self, d=8, max_len=16):
        super().__init__()
        self.q = nn.Linear(d, d)
        self.k = nn.Linear(d, d)
        self.register_buffer("cache", torch.zeros(1, max_len, d))
        self.register_buffer("idx", torch.arange(max_len))

    def forward(self, x, pos):
        self.cache.index_copy_(1, pos, self.k(x))
        s = self.q(x) @ self.cache.transpose(1, 2)
        s = s.masked_fill(self.idx > pos, float("-inf"))
        return s.softmax(-1) @ self.cache


def make_model():
    return torch.compile(StaticAttn().requires_grad_(False))


def batches():
    return [(torch.randn(1, 1, 8), torch.tensor([i])) for i in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
