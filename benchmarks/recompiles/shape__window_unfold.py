"""The same windows through one reshape."""
import torch
import torch.nn as nn


class Windowed(nn.Module):
    def __init__(self, win=8):
        super().__init__()
        self.win = win
        self.rnn_in = nn.Linear(3, 5)

    def forward(self, x):
        b, n, c = x.shape
        return self.rnn_in(x.reshape(b, n // self.win, self.win, c)).mean(2)


def make_model():
    return torch.compile(Windowed())


def batches():
    return [(torch.randn(2, n, 3),) for n in (16, 24, 32, 40, 48, 56)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
