"""Trials of different seeds: a new model of the same shape is compiled each time and the first program serves all."""
import torch
import torch.nn as nn


class MLP(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.up = nn.Linear(8, hidden)
        self.down = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.down(torch.tanh(self.up(x)))


def make_model():
    def trial(x, seed):
        torch.manual_seed(seed)
        model = torch.compile(MLP())
        return model(x).mean()
    return trial


def batches():
    return [(torch.randn(4, 8), s) for s in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
