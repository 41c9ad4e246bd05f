"""A multi-task model picks its head by the task's name."""
import torch
import torch.nn as nn


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 20), nn.GELU())
        self.heads = nn.ModuleDict({k: nn.Linear(20, n) for k, n in
                                    dict(depth=1, normals=3, seg=7, edges=1).items()})

    def forward(self, x, task):
        z = self.trunk(x)
        return self.heads[task](z)  # recompile


def make_model():
    return torch.compile(MultiTask())


def batches():
    return [(torch.randn(4, 10), t) for t in ("depth", "normals", "seg", "edges", "depth")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
