"""int(n.max()) says how many refinement steps to run in a Python loop."""
import torch
import torch.nn as nn


class Refine(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(8, 8)

    def forward(self, x, n):
        steps = int(n.max())
        for _ in range(steps):  # recompile
            x = torch.tanh(self.cell(x)) + x
        return x


def make_model():
    return torch.compile(Refine())


def batches():
    return [(torch.randn(4, 8), torch.tensor([1, k])) for k in (2, 3, 4, 5, 6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
