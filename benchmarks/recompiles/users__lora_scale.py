"""LoRA strength is set on all adapters by a walk over the modules."""
import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, d, r=2):
        super().__init__()
        self.base = nn.Linear(d, d)
        self.a, self.b = nn.Linear(d, r, bias=False), nn.Linear(r, d, bias=False)
        self.enabled = True

    def forward(self, x):
        y = self.base(x)
        if self.enabled:
            y = y + self.b(self.a(x))
        return y


def set_enabled(model, flag):
    for m in model.modules():
        if isinstance(m, LoRALinear):
            m.enabled = flag


net = nn.Sequential(LoRALinear(4), nn.ReLU(), LoRALinear(4))
run = torch.compile(net)
with torch.no_grad():
    for flag in (True, False, True, False):
        set_enabled(net, flag)
        run(torch.rand(1, 4))
