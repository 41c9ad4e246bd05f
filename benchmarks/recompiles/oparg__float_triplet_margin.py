"""The triplet margin grows with training."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 5)

    def forward(self, a, p, n, margin):
        a, p, n = (F.normalize(self.fc(t), dim=-1) for t in (a, p, n))
        return F.triplet_margin_loss(a, p, n, margin=margin)  # recompile


def make_model():
    return torch.compile(Embedder())


def batches():
    a, p, n = torch.randn(3, 6, 10)
    return [(a, p, n, 0.1 + 0.1 * i) for i in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
