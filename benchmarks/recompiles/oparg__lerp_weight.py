"""EMA-like residual mixing: the weight goes to lerp as a float argument."""
import torch
import torch.nn as nn


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8, bias=False)

    def forward(self, a, b, w):
        return torch.lerp(self.proj(a), b, w)  # recompile


def make_model():
    return torch.compile(Mixer())


def batches():
    a, b = torch.randn(4, 8), torch.randn(4, 8)
    return [(a, b, w) for w in (0.15, 0.25, 0.35, 0.45, 0.55, 0.65)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
