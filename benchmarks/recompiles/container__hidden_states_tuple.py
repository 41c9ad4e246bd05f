"""A tuple of hidden states, always of one length; only the batch varies: one dynamic recompile."""
import torch
import torch.nn as nn


class Mix(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(n))

    def forward(self, states):
        return (torch.stack(states, -1) * self.w.softmax(0)).sum(-1)


def make_model():
    return torch.compile(Mix(3))


def batches():
    return [(tuple(torch.randn(b, 5, 8) for _ in range(3)),) for b in (4, 6, 3, 9, 7, 5)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
