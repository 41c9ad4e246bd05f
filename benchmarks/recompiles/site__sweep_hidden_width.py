"""A hyperparameter sweep builds and compiles a new model for each hidden width."""
import torch
import torch.nn as nn


class MLP(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.up = nn.Linear(8, hidden)
        self.down = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.down(torch.tanh(self.up(x)))


def make_model():
    def trial(x, hidden):
        model = torch.compile(MLP(hidden))  # recompile
        return model(x).mean()
    return trial


def batches():
    return [(torch.randn(4, 8), h) for h in (16, 24, 32, 48, 64)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
