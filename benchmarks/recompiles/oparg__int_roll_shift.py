"""Shifted windows: the shift is a Python int of torch.roll."""
import torch
import torch.nn as nn


class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(7, 7)

    def forward(self, grid, shift):
        moved = torch.roll(grid, shifts=(-shift, -shift), dims=(1, 2))
        return self.mix(moved) + grid


def make_model():
    return torch.compile(Shift())


def batches():
    g = torch.randn(2, 12, 12, 7)
    return [(g, s) for s in (2, 3, 4, 5, 6, 7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
