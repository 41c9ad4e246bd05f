"""A sliding-window cache written at a Python slot number that is computed modulo the window on self."""
import torch
import torch.nn as nn


class RingCache(nn.Module):
    def __init__(self, d=8, window=4):
        super().__init__()
        self.window = window
        self.k = nn.Linear(d, d)
        self.slots = [torch.zeros(2, d) for _ in range(window)]
        self.step = 0

    def forward(self, x):
        slot = self.step % self.window  # recompile
        self.slots[slot] = self.k(x)  # recompile
        self.step += 1  # recompile
        return torch.stack(self.slots, 1).mean(1)


def make_model():
    return torch.compile(RingCache().requires_grad_(False))


def batches():
    return [(torch.randn(2, 8),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
