"""Length-dependent attention temperature: math.log of the sequence length."""
import math

import torch
import torch.nn as nn


class LogScaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.qk = nn.Linear(8, 16)

    def forward(self, x):
        q, k = self.qk(x).chunk(2, -1)
        t = math.log(x.shape[1]) / math.sqrt(8)  # recompile
        return (q @ k.mT * t).softmax(-1) @ x


def make_model():
    return torch.compile(LogScaled())


def batches():
    return [(torch.randn(2, n, 8),) for n in (5, 7, 9, 14, 20, 31)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
