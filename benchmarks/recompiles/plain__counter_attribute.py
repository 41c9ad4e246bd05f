"""The trainer tells the model which step it is."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.step = 0

    def forward(self, x):
        return self.fc(x) * (self.step + 1)  # recompile


class Trainer:
    def __init__(self):
        self.net = Net()
        self.fast = torch.compile(self.net)

    def fit(self, steps):
        for step in range(steps):
            self.net.step = step  # recompile
            self.fast(torch.randn(4, 8)).sum().backward()


if __name__ == "__main__":
    Trainer().fit(5)
