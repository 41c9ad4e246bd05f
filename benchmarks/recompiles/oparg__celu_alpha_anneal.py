"""An activation sharpness annealed by the trainer goes to F.celu."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(12, 24)
        self.out = nn.Linear(24, 3)

    def forward(self, x, alpha: float):
        h = F.celu(self.inp(x), alpha=alpha)  # recompile
        return self.out(h)


def make_model():
    return torch.compile(Net())


def batches():
    return [(torch.randn(6, 12), 1.0 + 0.13 * i) for i in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
