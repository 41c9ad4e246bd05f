"""The compute dtype as an argument: one program for each."""
import torch
import torch.nn as nn


class Cast(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(6))

    def forward(self, x, dtype):
        h = (x * self.scale).to(dtype)  # recompile
        return h.square().sum(-1)


def make_model():
    return torch.compile(Cast())


def batches():
    x = torch.randn(2, 6)
    return [(x, d) for d in (torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.float32)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
