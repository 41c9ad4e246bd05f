"""The mask is None on some calls and a tensor on others: two programs."""
import torch
import torch.nn as nn


class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)

    def forward(self, x, mask=None):
        q, k, v = self.qkv(x).chunk(3, -1)
        s = q @ k.transpose(-1, -2)
        if mask is not None:
            s = s.masked_fill(mask, -1e4)
        return s.softmax(-1) @ v


def make_model():
    return torch.compile(Attn())


def batches():
    x, m = torch.randn(2, 5, 8), torch.ones(5, 5, dtype=torch.bool).triu(1)
    return [(x,), (x, m), (x, None), (x, m), (x,), (x, m)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
