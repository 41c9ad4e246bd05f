"""A per-sample list comprehension over the batch."""
import torch
import torch.nn as nn


class PerSample(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, feats):
        grams = [self.fc(feats[i]).T @ feats[i] for i in range(feats.size(0))]  # recompile
        return torch.stack(grams)


def make_model():
    return torch.compile(PerSample())


def batches():
    return [(torch.randn(b, 3, 6),) for b in (2, 3, 4, 5, 6, 7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
