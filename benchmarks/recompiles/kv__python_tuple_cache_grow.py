"""Decoder with a tuple cache of (k, v) that grows by cat, positions come as a tensor."""
import torch
import torch.nn as nn


class DecoderLayer(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.qkv = nn.Linear(d, 3 * d)

    def forward(self, x, past):
        q, k, v = self.qkv(x).chunk(3, -1)
        k = torch.cat([past[0], k], 1)
        v = torch.cat([past[1], v], 1)
        return (q @ k.transpose(1, 2)).softmax(-1) @ v, (k, v)


class Generator:
    def __init__(self):
        self.layer = torch.compile(DecoderLayer())
        self.past = (torch.randn(1, 4, 8), torch.randn(1, 4, 8))

    def step(self, x):
        y, self.past = self.layer(x, self.past)
        return y


def make_model():
    return Generator().step


def batches():
    return [(torch.randn(1, 1, 8),) for _ in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
