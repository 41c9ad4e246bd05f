"""Multi-task model: only the trunk is compiled; the head is chosen by name outside."""
import torch
import torch.nn as nn


class MultiTask(nn.Module):
    TASKS = ("depth", "normal", "edge", "seg", "flow")

    def __init__(self):
        super().__init__()
        self.trunk = torch.compile(nn.Sequential(nn.Linear(9, 12), nn.ReLU()))
        self.heads = nn.ModuleDict({t: nn.Linear(12, 2 + i) for i, t in enumerate(self.TASKS)})

    def forward(self, x, task: str):
        return self.heads[task](self.trunk(x))


def make_model():
    return MultiTask()


def batches():
    x = torch.randn(4, 9)
    return [(x, t) for t in MultiTask.TASKS + ("depth",)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
