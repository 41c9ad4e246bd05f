import torch
import torch.nn as nn


class Attn(nn.Module):
    def forward(self, q, k, v, mask=None, bias=None, scale=None):  # recompile
        att = q @ k.transpose(-1, -2)
        if scale is not None:
            att = att * scale
        if bias is not None:  # recompile
            att = att + bias
        if mask is not None:  # recompile
            att = att.masked_fill(mask, -1e9)
        return att.softmax(-1) @ v


attn = torch.compile(Attn())
q = k = v = torch.randn(1, 4, 8)
mask = torch.zeros(4, 4, dtype=torch.bool)
bias = torch.zeros(4, 4)
attn(q, k, v)
attn(q, k, v, mask)
attn(q, k, v, mask, bias)
attn(q, k, v, bias=bias)
