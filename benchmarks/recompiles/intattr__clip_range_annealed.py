"""A float on self, annealed by the trainer, bounds a clamp."""
import torch
import torch.nn as nn


class Bounded(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.limit = 4.0

    def forward(self, x):
        return self.fc(x).clamp(min=-self.limit, max=self.limit)  # recompile


def make_model():
    net = Bounded()
    fast = torch.compile(net)

    def step(x):
        y = fast(x)
        net.limit *= 0.8  # recompile
        return y
    return step


def batches():
    return [(torch.randn(2, 6),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
