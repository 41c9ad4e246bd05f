"""A callback object sets the dropout probability of a block by attribute path."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.drop = nn.Dropout(0.0)

    def forward(self, x):
        return x + self.drop(torch.relu(self.fc(x)))  # recompile


class DropScheduler:
    def __init__(self, block, values):
        self.block, self.values = block, values

    def on_epoch_start(self, epoch):
        self.block.drop.p = self.values[epoch]  # recompile


def fit(block, callbacks, epochs=4):
    run = torch.compile(block)
    for epoch in range(epochs):
        for cb in callbacks:
            cb.on_epoch_start(epoch)
        run(torch.randn(2, 8)).sum().backward()


block = Block()
fit(block, [DropScheduler(block, [0.0, 0.1, 0.2, 0.3])])
