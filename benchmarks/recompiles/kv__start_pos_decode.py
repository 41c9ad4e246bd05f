"""Decoding steps pass start_pos as an int that slices the rotary table and the static cache: it settles as a dynamic int."""
import torch
import torch.nn as nn


class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.kv = nn.Linear(8, 16)
        self.register_buffer("freqs", torch.randn(32, 8))
        self.register_buffer("k", torch.zeros(2, 32, 8))
        self.register_buffer("v", torch.zeros(2, 32, 8))

    def forward(self, x, start_pos: int):
        k, v = self.kv(x).chunk(2, -1)
        k = k * self.freqs[start_pos : start_pos + 1]
        self.k[:, start_pos : start_pos + 1] = k
        self.v[:, start_pos : start_pos + 1] = v
        end = start_pos + 1
        a = torch.softmax(x @ self.k[:, :end].transpose(1, 2), -1)
        return a @ self.v[:, :end]


def make_model():
    return torch.no_grad()(torch.compile(Attn()))


def batches():
    return [(torch.randn(2, 1, 8), p) for p in range(5, 12)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
