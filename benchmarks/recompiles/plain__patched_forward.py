"""The forward of a model is replaced by its compiled self."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.depth = 1

    def forward(self, x):
        for _ in range(self.depth):  # recompile
            x = self.fc(x)
        return x


def main():
    net = Net()
    net.forward = torch.compile(net.forward)
    for depth in (1, 2, 3, 4):
        net.depth = depth  # recompile
        net(torch.randn(2, 8))


if __name__ == "__main__":
    main()
