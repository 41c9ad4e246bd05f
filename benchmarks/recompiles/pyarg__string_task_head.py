"""Multi-task model: the head is looked up by the task's name."""
import torch
import torch.nn as nn


class MultiTask(nn.Module):
    TASKS = ("depth", "normal", "edge", "seg", "flow")

    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(9, 12)
        self.heads = nn.ModuleDict({t: nn.Linear(12, 2 + i) for i, t in enumerate(self.TASKS)})

    def forward(self, x, task: str):
        z = torch.relu(self.trunk(x))
        return self.heads[task](z)  # recompile


def make_model():
    return torch.compile(MultiTask())


def batches():
    x = torch.randn(4, 9)
    return [(x, t) for t in MultiTask.TASKS + ("depth",)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
