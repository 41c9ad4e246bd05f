import torch
import torch.nn as nn


class MultiTask(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Linear(8, 8)
        self.heads = nn.ModuleDict({t: nn.Linear(8, n) for t, n in tasks.items()})

    def forward(self, x, task):  # recompile
        return self.heads[task](torch.relu(self.trunk(x)))


TASKS = {"sst": 2, "mnli": 3, "stsb": 1, "qqp": 2}


def interleave(loaders):
    iters = {k: iter(v) for k, v in loaders.items()}
    while iters:
        for name in list(iters):
            try:
                yield name, next(iters[name])
            except StopIteration:
                del iters[name]


def main():
    model = torch.compile(MultiTask(TASKS))
    loaders = {t: [torch.randn(4, 8) for _ in range(2)] for t in TASKS}
    for task, x in interleave(loaders):
        model(x, task).mean().backward()


main()
