"""Logits divided by a swept sampling temperature: a dynamic float after the first change."""
import torch
import torch.nn as nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.lm_head = nn.Linear(16, 40, bias=False)

    def forward(self, h, temperature):
        logits = self.lm_head(h[:, -1])
        return torch.softmax(logits / temperature, dim=-1)


def make_model():
    return torch.compile(Head())


def batches():
    return [(torch.randn(2, 5, 16), t) for t in (0.7, 0.8, 0.95, 1.1, 1.3, 0.6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
