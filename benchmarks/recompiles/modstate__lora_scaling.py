"""LoRA strength is a float attribute of the layer, set between calls: it settles as a dynamic float."""
import torch
import torch.nn as nn


class LoRALinear(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(8, 8)
        self.a = nn.Parameter(torch.randn(2, 8))
        self.b = nn.Parameter(torch.randn(8, 2))
        self.scaling = 1.0

    def forward(self, x):
        return self.base(x) + (x @ self.a.t() @ self.b.t()) * self.scaling


def make_model():
    layer = LoRALinear()
    compiled = torch.compile(layer)

    def run(x, s):
        layer.scaling = s
        return compiled(x)
    return run


def batches():
    return [(torch.randn(4, 8), s) for s in (1.0, 0.75, 0.5, 0.25, 0.6, 0.9)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
