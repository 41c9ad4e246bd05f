"""Static cache written at a position tensor with index_copy_."""
import torch
import torch.nn as nn


class Attn(nn.Module):
    def __init__(self, d=8, max_len=16):
        super().__init__()
        self.kp = nn.Linear(d, d)
        self.register_buffer("k", torch.zeros(1, max_len, d))
        self.register_buffer("idx", torch.arange(max_len))

    def forward(self, x, pos):
        self.k.index_copy_(1, pos, self.kp(x))
        s = x @ self.k.transpose(1, 2)
        s = s.masked_fill(self.idx > pos[-1], -1e4)
        return s.softmax(-1) @ self.k


def make_model():
    attn = torch.compile(Attn())
    pos = torch.zeros(1, dtype=torch.long)

    @torch.no_grad()
    def step(x):
        out = attn(x, pos)
        pos.add_(1)
        return out
    return step


def batches():
    return [(torch.randn(1, 1, 8),) for _ in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
