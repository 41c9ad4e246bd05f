"""A search over depths: each model is compiled."""
import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(depth))

    def forward(self, x):  # recompile
        for layer in self.layers:  # recompile
            x = torch.relu(layer(x))
        return x


for depth in (1, 2, 3, 4):
    model = torch.compile(Stack(depth))  # recompile
    model(torch.rand(2, 4)).sum().backward()  # recompile
