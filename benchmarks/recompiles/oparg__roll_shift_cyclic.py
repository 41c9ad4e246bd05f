"""Swin-style window shift taken from the loop and given to torch.roll: a dynamic int after the first change."""
import torch
import torch.nn as nn


class ShiftBlock(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, shift):
        h = self.norm(x)
        h = torch.roll(h, shifts=(-shift, -shift), dims=(1, 2))
        return x + self.proj(h)


def make_model():
    return torch.compile(ShiftBlock())


def batches():
    return [(torch.randn(2, 8, 8, 16), s) for s in (2, 3, 4, 5, 6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
