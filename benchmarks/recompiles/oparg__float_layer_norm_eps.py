"""eps passed down to F.layer_norm by a numerics sweep."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Stem(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.width = width
        self.gain = nn.Parameter(torch.ones(width))
        self.proj = nn.Linear(width, width, bias=False)

    def forward(self, x, eps=1e-5):
        x = F.layer_norm(x, (self.width,), self.gain, None, eps)  # recompile
        return self.proj(x)


def make_model():
    return torch.compile(Stem())


def batches():
    x = torch.randn(2, 3, 24)
    return [(x, e) for e in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
