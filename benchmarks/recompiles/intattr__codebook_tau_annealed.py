"""The trainer multiplies model.tau after each step; forward reads it."""
import torch
import torch.nn as nn


class VQ(nn.Module):
    def __init__(self, k=12, d=4):
        super().__init__()
        self.codes = nn.Parameter(torch.randn(k, d))
        self.tau = 1.0

    def forward(self, z):
        dist = torch.cdist(z, self.codes)
        w = (-dist / self.tau).softmax(-1)
        return w @ self.codes


class Trainer:
    def __init__(self):
        self.model = VQ()
        self.compiled = torch.compile(self.model)

    def step(self, z):
        out = self.compiled(z)
        self.model.tau *= 0.95
        return out


def make_model():
    return Trainer().step


def batches():
    return [(torch.randn(7, 4),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
