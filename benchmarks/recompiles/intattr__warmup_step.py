"""Warm-up counted by a Python int on self inside forward."""
import torch
import torch.nn as nn


class WarmResidual(nn.Module):
    def __init__(self, warm=100):
        super().__init__()
        self.fc = nn.Linear(10, 10)
        self.warm = warm
        self.num_updates = 0

    def forward(self, x):
        self.num_updates += 1  # recompile
        gate = min(1.0, self.num_updates / self.warm)  # recompile
        return x + gate * self.fc(x)


def make_model():
    return torch.compile(WarmResidual())


def batches():
    return [(torch.randn(2, 10),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
