"""The generation loop sets model.offset before each token; forward slices the rope table with it."""
import torch
import torch.nn as nn


class RopeBlock(nn.Module):
    def __init__(self, d=8, max_len=64):
        super().__init__()
        self.fc = nn.Linear(d, d)
        self.register_buffer("cos", torch.randn(max_len, d).cos())
        self.offset = 0

    def forward(self, x):
        n = x.shape[1]
        return self.fc(x) * self.cos[self.offset:self.offset + n]  # recompile


class Generator:
    def __init__(self):
        self.model = RopeBlock()
        self.fast = torch.compile(self.model)

    def generate_one(self, x, pos):
        self.model.offset = pos  # recompile
        return self.fast(x)


def make_model():
    return Generator().generate_one


def batches():
    x = torch.randn(1, 2, 8)
    return [(x, p) for p in range(0, 14, 2)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
