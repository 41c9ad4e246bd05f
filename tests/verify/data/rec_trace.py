import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.step = 0

    def forward(self, x):
        self.step += 1
        y = self.fc(x) * self.step
        print("step")
        return helper(y)


def helper(y):
    total = y.sum()
    if total > 0:
        y = y * 2
    return y


net = torch.compile(Net(), backend="eager")
for _ in range(4):
    net(torch.ones(2, 4))
