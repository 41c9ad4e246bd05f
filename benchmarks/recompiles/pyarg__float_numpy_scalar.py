"""np.float64 noise levels from a numpy schedule."""
import numpy as np
import torch
import torch.nn as nn


class Precond(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(5, 5)

    def forward(self, x, sigma):
        c_in = 1.0 / (1.0 + sigma * sigma)
        return x + self.f(x) * c_in


def make_model():
    net = torch.compile(Precond())
    sigmas = np.geomspace(10.0, 0.1, 7)
    return lambda x, i: net(x, sigmas[i])


def batches():
    x = torch.randn(3, 5)
    return [(x, i) for i in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
