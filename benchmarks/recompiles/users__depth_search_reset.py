"""A search over depths with a reset before each trial."""
import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


for depth in (1, 2):
    torch.compiler.reset()
    model = torch.compile(Stack(depth))
    model(torch.rand(2, 4)).sum().backward()
