"""Validation every other step: train() and eval() toggle, two programs in all."""
import torch
import torch.nn as nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        return self.fc(self.drop(x))


class Loop:
    def __init__(self):
        self.model = Tagger()
        self.fast = torch.compile(self.model)

    def fit(self, x, validate):
        self.model.train(not validate)
        return self.fast(x)


def make_model():
    return Loop().fit


def batches():
    x = torch.randn(4, 8)
    return [(x, bool(i % 2)) for i in range(8)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
