"""Progressive growing: the trainer raises net.depth, forward runs the first depth layers."""
import torch
import torch.nn as nn


class Grower(nn.Module):
    def __init__(self, n=6):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(n))
        self.depth = 1

    def forward(self, x):
        for layer in self.layers[:self.depth]:  # recompile
            x = x + layer(x).relu()
        return x


class Trainer:
    def __init__(self):
        self.net = Grower()
        self.fwd = torch.compile(self.net)

    def set_phase(self, phase):
        self.net.depth = phase + 1  # recompile

    def step(self, x, phase):
        self.set_phase(phase)
        return self.fwd(x)


def make_model():
    return Trainer().step


def batches():
    x = torch.randn(4, 8)
    return [(x, p) for p in (0, 0, 1, 2, 3, 4, 4)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
