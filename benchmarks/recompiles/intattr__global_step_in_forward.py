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


def build():
    return torch.compile(MoE())


def calls():
    x = torch.randn(4, 8)
    return [(x,) for _ in range(7)]
