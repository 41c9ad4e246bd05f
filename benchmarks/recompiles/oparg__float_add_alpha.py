"""Residual mixing through torch.add's alpha with a float that drops each step."""
import torch
import torch.nn as nn


class Mix(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 6)

    def forward(self, x, strength):
        return torch.add(x, self.a(x), alpha=strength)  # recompile


def make_model():
    return torch.compile(Mix())


def batches():
    x = torch.randn(4, 6)
    return [(x, 0.9 ** (i + 1)) for i in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
