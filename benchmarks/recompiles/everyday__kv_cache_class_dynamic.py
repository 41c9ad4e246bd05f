import torch
import torch.nn as nn


class KVCache:
    def __init__(self):
        self.k = None
        self.v = None

    def update(self, k, v):
        if self.k is None:
            self.k, self.v = k, v
        else:
            self.k = torch.cat([self.k, k], dim=2)
            self.v = torch.cat([self.v, v], dim=2)
        return self.k, self.v


class Attention(nn.Module):
    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, cache):  # recompile
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        k, v = cache.update(k, v)  # recompile
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(b, t, d))


@torch.inference_mode()
def decode(attn, prompt, steps):
    cache = KVCache()
    x = attn(prompt, cache)[:, -1:]
    for _ in range(steps):
        x = attn(x, cache)
    return x


attn = torch.compile(Attention())
decode(attn, torch.randn(1, 5, 16), 6)
