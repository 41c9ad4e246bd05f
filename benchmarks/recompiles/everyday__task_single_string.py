import torch
import torch.nn as nn


class MultiTask(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Linear(8, 8)
        self.heads = nn.ModuleDict({t: nn.Linear(8, n) for t, n in tasks.items()})

    def forward(self, x, task):
        return self.heads[task](torch.relu(self.trunk(x)))


TASKS = {"sst": 2, "mnli": 3, "stsb": 1, "qqp": 2}


def main(task="sst"):
    model = torch.compile(MultiTask(TASKS))
    loader = [torch.randn(4, 8) for _ in range(6)]
    for x in loader:
        model(x, task).mean().backward()


main()
