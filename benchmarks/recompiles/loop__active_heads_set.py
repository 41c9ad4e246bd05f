import torch
from torch import nn


class PrunedAttn(nn.Module):
    def __init__(self, heads, d):
        super().__init__()
        self.proj = nn.ModuleList(nn.Linear(d, d) for _ in range(heads))
        self.pruned = set()

    def forward(self, x):  # recompile
        out = torch.zeros_like(x)
        for i, p in enumerate(self.proj):
            if i not in self.pruned:  # recompile
                out = out + p(x)
        return out


def main():
    torch.manual_seed(0)
    attn = PrunedAttn(5, 6).eval()
    fast = torch.compile(attn)
    x = torch.randn(3, 6)
    with torch.no_grad():
        full = fast(x)
        for head in (4, 1, 3):
            attn.pruned.add(head)  # recompile
            print(head, (fast(x) - full).abs().mean().item())  # recompile


if __name__ == "__main__":
    main()
