"""The wrapper sets `self.active` before every call; forward indexes a ModuleList with it."""
import torch
import torch.nn as nn


class Experts(nn.Module):
    def __init__(self, n=5):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(n))
        self.active = 0

    def forward(self, x):
        return x + self.experts[self.active](x)  # recompile


def make_model():
    model = Experts()
    fast = torch.compile(model)

    def run(x, which):
        model.active = which  # recompile
        return fast(x)
    return run


def batches():
    return [(torch.randn(3, 8), i) for i in (0, 1, 2, 3, 4, 1)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
