"""The step counter is a buffer updated in place."""
import torch
import torch.nn as nn


class DebiasedEMA(nn.Module):
    def __init__(self, dim, beta=0.9):
        super().__init__()
        self.beta = beta
        self.register_buffer("t", torch.zeros(()))
        self.register_buffer("avg", torch.zeros(dim))

    def forward(self, x):
        self.t += 1
        self.avg.mul_(self.beta).add_(x.mean(0), alpha=1 - self.beta)
        return self.avg / (1 - self.beta ** self.t)


def make_model():
    return torch.compile(DebiasedEMA(4))


def batches():
    return [(torch.randn(6, 4),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
