"""The cache is a sub-module with an int length it advances inside the compiled forward."""
import torch
import torch.nn as nn


class KVCache(nn.Module):
    def __init__(self, n=32, d=8):
        super().__init__()
        self.register_buffer("buf", torch.zeros(1, n, d))
        self.length = 0

    def append(self, k):
        end = self.length + k.shape[1]  # recompile
        self.buf[:, self.length:end] = k  # recompile
        self.length = end  # recompile
        return self.buf


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = nn.Linear(8, 8)
        self.cache = KVCache()

    def forward(self, x):
        keys = self.cache.append(self.k(x))
        return (x @ keys.transpose(1, 2)).softmax(-1) @ keys


def make_model():
    dec = torch.compile(Decoder())

    @torch.no_grad()
    def step(x):
        return dec(x)
    return step


def batches():
    return [(torch.randn(1, 1, 8),) for _ in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
