"""Classifier-free guidance: the branch compares a float argument that the schedule changes."""
import torch
import torch.nn as nn


class UNetish(nn.Module):
    def __init__(self):
        super().__init__()
        self.cond = nn.Linear(6, 6)
        self.uncond = nn.Linear(6, 6)

    def forward(self, x, guidance):
        c = self.cond(x)
        if guidance > 1.0:
            u = self.uncond(x)
            return u + guidance * (c - u)
        return c


def make_model():
    return torch.compile(UNetish())


def batches():
    x = torch.randn(2, 6)
    return [(x, g) for g in (7.5, 6.5, 5.5, 4.5, 3.5, 2.5)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
