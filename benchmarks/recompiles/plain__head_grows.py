"""A head that is replaced by a wider one for each task."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.body(x).relu())  # recompile


def main():
    net = Net()
    fast = torch.compile(net)
    for classes in (2, 4, 6, 8):
        net.head = nn.Linear(8, classes)  # recompile
        fast(torch.randn(4, 8))


if __name__ == "__main__":
    main()
