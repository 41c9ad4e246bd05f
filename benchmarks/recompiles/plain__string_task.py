"""A task name selects a head of a module dict."""
import torch
import torch.nn as nn


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleDict({t: nn.Linear(8, 2) for t in ("a", "b", "c")})

    def forward(self, x, task):
        return self.heads[task](x)  # recompile


def main():
    net = Heads()
    fast = torch.compile(net)
    for step in range(6):
        task = ["a", "b", "c"][step % 3]
        fast(torch.randn(4, 8), task)  # recompile


if __name__ == "__main__":
    main()
