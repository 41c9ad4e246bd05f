"""After a break the number of iterations comes from a tensor's item and is a Python loop bound."""
import torch
import torch.nn as nn


class AdaptiveSteps(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(4, 4)

    def forward(self, x, budget):
        h = self.f(x)
        n = budget.item()
        for _ in range(n):  # recompile
            h = h + self.f(h).tanh()
        return h


def make_model():
    return torch.compile(AdaptiveSteps())


def batches():
    return [(torch.randn(2, 4), torch.tensor(n)) for n in (2, 3, 4, 5, 6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
