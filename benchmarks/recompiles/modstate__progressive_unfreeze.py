"""Layers are unfrozen one at a time from the top."""
import torch
import torch.nn as nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(8, 8) for _ in range(4)])

    def forward(self, x):
        return self.layers(x).sum(-1)


def make_model():
    model = Classifier()
    for p in model.parameters():
        p.requires_grad_(False)
    fast = torch.compile(model)

    def train(x, k):
        for p in model.layers[4 - k:].parameters():
            p.requires_grad_(True)  # recompile
        fast(x).sum().backward()
    return train


def batches():
    return [(torch.randn(2, 8), k) for k in (1, 2, 3, 4)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
