"""MoCo-like queue: the write pointer is a one-element long buffer and the write an index_copy."""
import torch
import torch.nn as nn


class Queue(nn.Module):
    def __init__(self, size=16, d=5):
        super().__init__()
        self.register_buffer("bank", torch.zeros(size, d))
        self.register_buffer("ptr", torch.zeros(1, dtype=torch.long))
        self.size = size

    @torch.no_grad()
    def forward(self, keys):
        n = keys.size(0)
        where = (self.ptr + torch.arange(n)) % self.size
        self.bank.index_copy_(0, where, keys)
        self.ptr.copy_((self.ptr + n) % self.size)
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
