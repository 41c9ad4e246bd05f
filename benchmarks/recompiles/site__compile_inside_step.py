"""torch.compile of a local closure inside the training step: a new function object on every step."""
import torch
import torch.nn as nn


class Trainer:
    def __init__(self):
        self.model = nn.Linear(8, 2)

    def training_step(self, x, y):
        def loss_fn(a, b):
            return ((self.model(a) - b) ** 2).mean()

        step = torch.compile(loss_fn)
        loss = step(x, y)
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
