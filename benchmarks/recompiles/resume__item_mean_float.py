"""A mean read with item() breaks the graph; the float after it is only used in arithmetic."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)

    def forward(self, x):
        h = self.a(x)
        s = h.abs().mean().item()
        h = h * (1.0 / (1.0 + s))
        return self.b(h)


def make_model():
    return torch.compile(Net())


def batches():
    return [(torch.randn(3, 4),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
