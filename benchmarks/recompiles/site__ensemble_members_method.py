"""Each ensemble member is compiled with its own number of layers."""
import torch
import torch.nn as nn


class Member(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(n))

    def forward(self, x):
        for layer in self.layers:  # recompile
            x = layer(x).tanh()
        return x


def make_model():
    members = [torch.compile(Member(n)) for n in (1, 2, 3, 4, 5)]  # recompile

    def predict(x):
        return torch.stack([m(x) for m in members]).mean(0)
    return predict


def batches():
    return [(torch.randn(4, 8),) for _ in range(4)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
