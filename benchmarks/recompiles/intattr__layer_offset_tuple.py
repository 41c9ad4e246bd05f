"""A tuple of ints on self rebound by the data pipeline and used to slice."""
import torch
import torch.nn as nn


class Slicer(nn.Module):
    def __init__(self):
        super().__init__()
        self.window = (0, 4)
        self.fc = nn.Linear(3, 3)

    def forward(self, seq):
        lo, hi = self.window
        return self.fc(seq[:, lo:hi]).sum(1)  # recompile


def make_model():
    net = Slicer()
    fast = torch.compile(net)

    def run(seq, lo):
        net.window = (lo, lo + 4)  # recompile
        return fast(seq)
    return run


def batches():
    s = torch.randn(2, 24, 3)
    return [(s, lo) for lo in (0, 2, 5, 7, 11, 14)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
