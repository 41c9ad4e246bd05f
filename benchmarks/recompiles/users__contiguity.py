"""Attention heads come contiguous, transposed, and expanded."""
import torch


@torch.compile
def norm(q):  # recompile
    return q / q.norm(dim=-1, keepdim=True)


base = torch.randn(2, 3, 4)
for q in (base, torch.randn(2, 4, 3).transpose(1, 2), torch.randn(2, 1, 4).expand(2, 3, 4)):
    norm(q)  # recompile
