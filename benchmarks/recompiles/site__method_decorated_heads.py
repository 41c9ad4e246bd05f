"""forward is decorated with torch.compile in the class body; each stage has its own number of heads."""
import torch
import torch.nn as nn


class Attn(nn.Module):
    def __init__(self, dim, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.qkv = nn.Linear(dim, 3 * dim)

    @torch.compile
    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.n_heads, d // self.n_heads).permute(2, 0, 3, 1, 4)  # recompile
        a = (q @ k.transpose(-1, -2)).softmax(-1)
        return (a @ v).transpose(1, 2).reshape(b, t, d)


def make_model():
    return nn.Sequential(*[Attn(16, h) for h in (2, 4, 8, 16)])


def batches():
    return [(torch.randn(2, 6, 16),) for _ in range(4)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
