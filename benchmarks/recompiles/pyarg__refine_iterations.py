"""Iterative refinement: the number of turns is an int argument of a Python loop."""
import torch
import torch.nn as nn


class Refine(nn.Module):
    def __init__(self):
        super().__init__()
        self.delta = nn.Linear(6, 6)

    def forward(self, flow, iters=4):
        for _ in range(iters):  # recompile
            flow = flow + 0.1 * self.delta(flow)
        return flow


def make_model():
    return torch.compile(Refine())


def batches():
    f = torch.randn(2, 6)
    return [(f, n) for n in (2, 3, 4, 5, 6, 8)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
