import torch
import torch.nn as nn

NORMS = {"batch": nn.BatchNorm1d, "layer": nn.LayerNorm, "none": nn.Identity}


class Block(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.norm = NORMS[norm](8) if norm != "none" else nn.Identity()

    def forward(self, x):  # recompile
        return torch.relu(self.norm(self.fc(x)))


def ablate(names):
    for name in names:
        block = torch.compile(Block(name))  # recompile
        for _ in range(2):
            block(torch.randn(4, 8)).sum().backward()


ablate(["batch", "layer", "none"])
