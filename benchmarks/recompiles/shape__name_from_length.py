"""A string made of the sequence length picks the branch's key in the output dict."""
import torch
import torch.nn as nn


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        out = {}
        out[f"hidden_{x.shape[1]}"] = self.fc(x)  # recompile
        return out


def build():
    return torch.compile(Probe())


def calls():
    return [(torch.randn(2, n, 4),) for n in (3, 5, 6, 8, 9)]
