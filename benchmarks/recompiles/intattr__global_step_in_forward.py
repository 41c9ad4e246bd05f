"""The model counts its own forward passes and scales an auxiliary loss with the count."""
import torch
import torch.nn as nn


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 4)
        self.seen = 0

    def forward(self, x):
        self.seen += 1  # recompile
        p = self.gate(x).softmax(-1)
        aux = p.mean(0).pow(2).sum() * (0.9 ** self.seen)  # recompile
        return p, aux


def make_model():
    return torch.compile(MoE())


def batches():
    x = torch.randn(4, 8)
    return [(x,) for _ in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
