"""A property computes a Python number from the step, which is counted in eager code."""
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0

    @property
    def keep(self):
        return max(1, 8 - self.step)  # recompile

    def forward(self, x):
        return x.topk(self.keep).values  # recompile


gate = Gate()
run = torch.compile(gate)
for _ in range(5):
    run(torch.rand(16))
    gate.step += 1  # recompile
