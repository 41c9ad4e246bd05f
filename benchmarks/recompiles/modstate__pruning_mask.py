"""A pruning mask buffer is replaced by a new tensor of the same shape before each call."""
import torch
import torch.nn as nn


class Pruned(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 8))
        self.register_buffer("mask", torch.ones(8, 8))

    def forward(self, x):
        return x @ (self.weight * self.mask)


def make_model():
    layer = Pruned()
    compiled = torch.compile(layer)

    def run(x, sparsity):
        k = int(64 * sparsity) + 1
        thr = layer.weight.detach().abs().flatten().kthvalue(k).values
        layer.mask = (layer.weight.detach().abs() >= thr).float()
        return compiled(x)
    return run


def batches():
    return [(torch.randn(4, 8), s) for s in (0.0, 0.1, 0.3, 0.5, 0.7, 0.8)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
