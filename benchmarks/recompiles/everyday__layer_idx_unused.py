import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, dim, idx):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.idx = idx

    def forward(self, x):
        return x + torch.tanh(self.fc(x))

    def extra_repr(self):
        return f"idx={self.idx}"


class Stack(nn.Module):
    def __init__(self, dim=8, depth=4):
        super().__init__()
        self.blocks = nn.ModuleList()
        for i in range(depth):
            self.blocks.append(Block(dim, i))

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x


model = Stack()
for b in model.blocks:
    b.compile()
model(torch.randn(2, 8))
