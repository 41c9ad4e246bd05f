"""A module-level curriculum depth raised by the trainer and used as a loop bound."""
import torch
import torch.nn as nn

DEPTH = 1


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(8, 8)

    def forward(self, x):
        for _ in range(DEPTH):  # recompile
            x = x + self.cell(x).tanh()
        return x


def make_model():
    net = torch.compile(Recurrent())

    def train_step(x):
        global DEPTH
        out = net(x)
        DEPTH += 1  # recompile
        return out
    return train_step


def batches():
    return [(torch.randn(2, 8),) for _ in range(5)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
