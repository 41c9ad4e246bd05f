"""A mask on some calls, none on others: two programs."""
import torch


@torch.compile
def attend(q, mask=None):
    scores = q @ q.transpose(-1, -2)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(-1) @ q


def main():
    m = torch.ones(5, 5, dtype=torch.bool).tril()
    for i in range(6):
        attend(torch.randn(1, 5, 8), m if i % 2 else None)


main()
