import torch
from torch import nn
import torch.nn.functional as F


class Attn(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)

    def forward(self, x, k_cache, v_cache):  # recompile
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        k = torch.cat([k_cache, k], dim=2)  # recompile
        v = torch.cat([v_cache, v], dim=2)  # recompile
        y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(b, t, d)), k, v


def main():
    torch.manual_seed(0)
    attn = Attn(16, 2).eval()
    step = torch.compile(attn, dynamic=False)
    k = v = torch.zeros(1, 2, 4, 8)
    x = torch.randn(1, 1, 16)
    with torch.inference_mode():
        for _ in range(6):
            x, k, v = step(x, k, v)  # recompile
    print(x.sum().item(), k.shape)


if __name__ == "__main__":
    main()
