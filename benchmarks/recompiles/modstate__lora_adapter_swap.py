"""Adapters swapped by assigning another module object of the same shape to self.adapter."""
import torch
import torch.nn as nn


class Lora(nn.Module):
    def __init__(self, d=8, r=2):
        super().__init__()
        self.a, self.b = nn.Linear(d, r, bias=False), nn.Linear(r, d, bias=False)

    def forward(self, x):
        return self.b(self.a(x))


class Adapted(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(8, 8)
        self.adapter = Lora()

    def forward(self, x):
        return self.base(x) + self.adapter(x)


def make_model():
    bank = [Lora() for _ in range(5)]
    model = Adapted()
    fast = torch.compile(model)

    def serve(x, which):
        model.adapter = bank[which]
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
