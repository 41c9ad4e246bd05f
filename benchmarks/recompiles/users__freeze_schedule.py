"""Layers of a model are frozen one by one, by index."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(4))

    def forward(self, x):  # recompile
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


net = Net()
run = torch.compile(net)
for i in range(4):
    run(torch.rand(2, 4)).sum().backward()  # recompile
    for p in net.layers[i].parameters():
        p.requires_grad_(False)  # recompile
