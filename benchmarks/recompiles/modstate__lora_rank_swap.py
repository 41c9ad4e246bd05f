"""Adapters of different ranks swapped into the compiled layer."""
import torch
import torch.nn as nn


class Lora(nn.Module):
    def __init__(self, r, d=8):
        super().__init__()
        self.a, self.b = nn.Linear(d, r, bias=False), nn.Linear(r, d, bias=False)

    def forward(self, x):
        return self.b(self.a(x))


class Adapted(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(8, 8)
        self.adapter = Lora(2)

    def forward(self, x):
        return self.base(x) + self.adapter(x)  # recompile


def make_model():
    bank = [Lora(r) for r in (2, 3, 4, 6, 5)]
    model = Adapted()
    fast = torch.compile(model)

    def serve(x, which):
        model.adapter = bank[which]  # recompile
        return fast(x)
    return serve


def batches():
    x = torch.randn(4, 8)
    return [(x, w) for w in (0, 1, 2, 3, 4, 0)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
