"""Layers are frozen once before anything is compiled."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


net = Net()
for i in range(2):
    for p in net.layers[i].parameters():
        p.requires_grad_(False)
run = torch.compile(net)
for i in range(4):
    run(torch.rand(2, 4)).sum().backward()
