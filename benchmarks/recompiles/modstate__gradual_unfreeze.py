"""Gradual unfreezing: each stage turns on requires_grad for one more layer of the compiled model."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(5))

    def forward(self, x):
        for l in self.layers:
            x = torch.tanh(l(x))
        return x


def make_model():
    net = Net().requires_grad_(False)
    compiled = torch.compile(net)  # recompile

    def stage(x, n):
        for l in net.layers[len(net.layers) - n:]:
            l.requires_grad_(True)  # recompile
        compiled(x).sum().backward()
        return None
    return stage


def batches():
    return [(torch.randn(4, 8), n) for n in (1, 2, 3, 4, 5)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
