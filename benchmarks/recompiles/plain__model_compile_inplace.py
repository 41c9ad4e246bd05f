"""model.compile() and a number that the scheduler writes."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.keep = 4

    def forward(self, x):
        return self.fc(x)[:, : self.keep]  # recompile


def main():
    net = Net()
    net.compile()
    for keep in range(4, 0, -1):
        net.keep = keep  # recompile
        net(torch.randn(2, 4))


if __name__ == "__main__":
    main()
