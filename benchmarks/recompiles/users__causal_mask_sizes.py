"""A boolean mask of varying length, dynamic=False."""
import torch


@torch.compile(dynamic=False)  # recompile
def attend(q, mask):
    scores = q @ q.transpose(-1, -2)
    return scores.masked_fill(~mask, -1e9).softmax(-1) @ q  # recompile


def causal(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def main():
    for n in (4, 6, 8, 10):
        attend(torch.randn(1, n, 8), causal(n))  # recompile


main()
