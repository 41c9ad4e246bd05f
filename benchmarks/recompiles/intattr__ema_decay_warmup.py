"""The EMA wrapper is a module whose update count and decay live on self; update is compiled."""
import torch
import torch.nn as nn


class Ema(nn.Module):
    def __init__(self, n=6):
        super().__init__()
        self.register_buffer("avg", torch.zeros(n))
        self.updates = 0

    @torch.compile
    def update(self, w):
        decay = min(0.999, (1 + self.updates) / (10 + self.updates))  # recompile
        self.avg.lerp_(w, 1 - decay)
        self.updates += 1  # recompile


def make_model():
    return Ema().update


def batches():
    return [(torch.randn(6),) for _ in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
