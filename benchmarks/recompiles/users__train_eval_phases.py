"""train, eval and a phase in which only the dropout is on (MC dropout), under two grad modes."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.3)

    def forward(self, x):  # recompile
        return self.drop(self.lin(x))  # recompile


def main():
    net = Net()
    f = torch.compile(net)
    x = torch.randn(2, 4)
    for _ in range(2):
        net.train()
        f(x).sum().backward()
        net.eval()  # recompile
        with torch.no_grad():  # recompile
            f(x)
            net.drop.train()  # recompile
            f(x)  # recompile


main()
