"""Packed sequences: lengths as a Python list of ints goes to torch.split."""
import torch
import torch.nn as nn


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, flat, lengths):
        parts = torch.split(self.fc(flat), lengths)
        return torch.stack([p.mean(0) for p in parts])


def make_model():
    return torch.compile(Packed())


def batches():
    ls = ([3, 5, 4], [4, 2, 6], [5, 4, 3], [2, 7, 3], [4, 3, 5], [7, 3, 2])
    return [(torch.randn(12, 4), l) for l in ls]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
