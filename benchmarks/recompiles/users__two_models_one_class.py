"""Student and teacher of one class with other depths, each compiled."""
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


student, teacher = torch.compile(Stack(1)), torch.compile(Stack(3))
for _ in range(3):
    x = torch.rand(2, 4)
    with torch.no_grad():
        t = teacher(x)
    (student(x) - t).pow(2).mean().backward()
