import torch
import torch.nn as nn


class StaticCache:
    def __init__(self, batch, heads, length, dim):
        self.k = torch.zeros(batch, heads, length, dim)
        self.v = torch.zeros(batch, heads, length, dim)

    def update(self, pos, k, v):
        self.k.index_copy_(2, pos, k)
        self.v.index_copy_(2, pos, v)
        return self.k, self.v


class Attention(nn.Module):
    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x, cache, pos):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        k, v = cache.update(pos, k, v)
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        return y.transpose(1, 2).reshape(b, t, d)


@torch.no_grad()
def decode(attn, steps):
    cache = StaticCache(1, 2, 32, 8)
    x = torch.randn(1, 1, 16)
    for i in range(steps):
        pos = torch.tensor([i])
        x = attn(x, cache, pos)
    return x


attn = torch.compile(Attention())
decode(attn, 6)
