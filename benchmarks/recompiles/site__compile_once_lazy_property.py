"""The compiled step is made on first use and kept."""
import functools
import torch
import torch.nn as nn


class Trainer:
    def __init__(self):
        self.model = nn.Linear(8, 2)

    @functools.cached_property
    def loss_fn(self):
        def f(a, b):
            return ((self.model(a) - b) ** 2).mean()
        return torch.compile(f)

    def training_step(self, x, y):
        loss = self.loss_fn(x, y)
        loss.backward()
        return loss


def make_model():
    return Trainer().training_step


def batches():
    return [(torch.randn(4, 8), torch.randn(4, 2)) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
