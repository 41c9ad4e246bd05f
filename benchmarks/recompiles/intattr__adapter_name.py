"""LoRA-like adapters: the active adapter's name is a string on self."""
import torch
import torch.nn as nn


class LoraLinear(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.base = nn.Linear(8, 8)
        self.down = nn.ModuleDict({n: nn.Linear(8, 2, bias=False) for n in names})
        self.up = nn.ModuleDict({n: nn.Linear(2, 8, bias=False) for n in names})
        self.active = names[0]

    def set_adapter(self, name):
        self.active = name  # recompile

    def forward(self, x):
        return self.base(x) + self.up[self.active](self.down[self.active](x))  # recompile


def make_model():
    net = LoraLinear(["fr", "de", "es", "it", "pt"])
    fast = torch.compile(net)

    def run(x, lang):
        net.set_adapter(lang)
        return fast(x)
    return run


def batches():
    x = torch.randn(2, 8)
    return [(x, l) for l in ("fr", "de", "es", "it", "pt", "fr")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
