import torch
import torch.nn as nn


class CosineWeight(nn.Module):
    def __init__(self, total):
        super().__init__()
        self.total = total
        self.step_num = 0

    def step(self):
        self.step_num += 1

    def forward(self, x):  # recompile
        frac = self.step_num / self.total  # recompile
        return x * (1 - frac)


def main():
    sched = CosineWeight(10)
    weighted = torch.compile(sched)
    for _ in range(6):
        weighted(torch.randn(8)).sum()
        sched.step()


main()
