"""Remembers the longest input seen as an int on self."""
import torch
import torch.nn as nn


class Longest(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.longest = 0

    def forward(self, x):
        if x.shape[1] > self.longest:  # recompile
            self.longest = x.shape[1]  # recompile
        return self.fc(x)


def make_model():
    return torch.compile(Longest())


def batches():
    return [(torch.randn(2, n, 4),) for n in (3, 5, 6, 8, 9, 12)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
