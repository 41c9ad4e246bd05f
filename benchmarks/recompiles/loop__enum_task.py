from enum import Enum
import torch
from torch import nn


class Task(Enum):
    CLS = "cls"
    REG = "reg"
    RANK = "rank"


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(8, 16)
        self.heads = nn.ModuleDict({"cls": nn.Linear(16, 4), "reg": nn.Linear(16, 1), "rank": nn.Linear(16, 2)})

    def forward(self, x, task):  # recompile
        h = torch.relu(self.trunk(x))
        return self.heads[task.value](h)  # recompile


def main():
    torch.manual_seed(0)
    net = torch.compile(MultiTask())
    for step in range(6):
        task = list(Task)[step % 3]
        out = net(torch.randn(4, 8), task)  # recompile
        out.square().mean().backward()
    print(out.shape)


if __name__ == "__main__":
    main()
