"""A Python list of image crops whose length differs from batch to batch."""
import torch
import torch.nn as nn


class MultiCrop(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(12, 4)

    def forward(self, crops):
        outs = [self.f(c.flatten(1)) for c in crops]  # recompile
        return torch.stack(outs).mean(0)


def make_model():
    return torch.compile(MultiCrop())


def batches():
    return [([torch.randn(2, 3, 4) for _ in range(n)],) for n in (2, 3, 4, 5, 6, 3)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
