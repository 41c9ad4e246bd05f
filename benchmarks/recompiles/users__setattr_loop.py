"""Hyper-parameters are written with setattr out of a dictionary."""
import torch
from torch import nn


class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma = 2

    def forward(self, p):
        return ((1 - p) ** self.gamma * p.log()).mean()  # recompile


loss = Loss()
run = torch.compile(loss)
for hp in ({"gamma": 1}, {"gamma": 2}, {"gamma": 3}, {"gamma": 4}):
    for key, value in hp.items():
        setattr(loss, key, value)  # recompile
    run(torch.rand(4))
