"""Adapters of different rank are put on the model between requests."""
import torch
import torch.nn as nn


class LoRALinear(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.base = nn.Linear(d, d)
        self.adapter = None

    def forward(self, x):
        y = self.base(x)
        if self.adapter is not None:  # recompile
            y = y + self.adapter(x)
        return y


def make_model():
    layer = LoRALinear(8)
    fast = torch.compile(layer)

    def serve(x, rank):
        if rank:
            layer.adapter = nn.Sequential(nn.Linear(8, rank, bias=False), nn.Linear(rank, 8, bias=False))  # recompile
        return fast(x)
    return serve


def batches():
    return [(torch.randn(3, 8), r) for r in (0, 2, 3, 4, 6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
