"""Norm layers compiled one by one; each was given its own eps: the float turns dynamic."""
import torch
import torch.nn as nn


class RMSNorm(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.scale = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.scale


def make_model():
    norms = nn.ModuleList(RMSNorm(8, e) for e in (1e-5, 1e-6, 1e-8, 1e-3))
    for i in range(len(norms)):
        norms[i] = torch.compile(norms[i])

    def run(x):
        for n in norms:
            x = n(x)
        return x
    return run


def batches():
    return [(torch.randn(4, 8),) for _ in range(4)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
