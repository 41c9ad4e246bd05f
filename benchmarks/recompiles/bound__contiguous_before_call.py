"""Layouts vary outside, but the wrapper makes everything contiguous before the compiled block."""
import torch
import torch.nn as nn


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, x):
        return self.fc(x).tanh()


def make_model():
    mixer = torch.compile(Mixer())

    def run(x):
        return mixer(x.contiguous())
    return run


def batches():
    x = torch.randn(6, 6, 6)
    return [(x,), (x.transpose(0, 1),), (x.transpose(1, 2),), (x.permute(2, 0, 1),), (x,)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
