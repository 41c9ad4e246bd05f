"""MoCo-like queue: the write pointer is a Python int on self."""
import torch
import torch.nn as nn


class Queue(nn.Module):
    def __init__(self, size=16, d=5):
        super().__init__()
        self.register_buffer("bank", torch.zeros(size, d))
        self.size = size
        self.ptr = 0

    @torch.no_grad()
    def forward(self, keys):
        n = keys.size(0)
        self.bank[self.ptr:self.ptr + n] = keys  # recompile
        self.ptr = (self.ptr + n) % self.size  # recompile
        return self.bank.mean(0)


def make_model():
    return torch.compile(Queue())


def batches():
    return [(torch.randn(2, 5),) for _ in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
