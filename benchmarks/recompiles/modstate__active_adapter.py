"""The name of the active adapter is a string on the module and picks from a ModuleDict."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.base = nn.Linear(8, 8)
        self.adapters = nn.ModuleDict({n: nn.Linear(8, 8) for n in names})
        self.active = names[0]

    def set_adapter(self, name):
        self.active = name  # recompile

    def forward(self, x):
        return self.base(x) + self.adapters[self.active](x)  # recompile


def make_model():
    net = Net(["de", "fr", "it", "es"])
    compiled = torch.compile(net)

    def run(x, lang):
        net.set_adapter(lang)
        return compiled(x)
    return run


def batches():
    return [(torch.randn(4, 8), l) for l in ("de", "fr", "it", "es", "de", "fr")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
