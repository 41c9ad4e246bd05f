"""The active adapter is chosen by its name on every layer."""
import torch
from torch import nn


class Multi(nn.Module):
    def __init__(self, d, names):
        super().__init__()
        self.base = nn.Linear(d, d)
        self.adapters = nn.ModuleDict({n: nn.Linear(d, d) for n in names})
        self.active = names[0]

    def forward(self, x):
        return self.base(x) + self.adapters[self.active](x)  # recompile


def activate(model, name):
    for m in model.modules():
        if isinstance(m, Multi):
            m.active = name  # recompile


names = ["en", "de", "fr", "it"]
net = nn.ModuleList([Multi(4, names) for _ in range(2)])


@torch.compile
def run(x):
    for layer in net:
        x = layer(x)
    return x


for n in names:
    activate(net, n)
    run(torch.rand(1, 4))
