"""A plain tensor on the module is bound anew with the same shape: no change."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(8))

    def forward(self, x):
        return x + self.state


def main():
    net = Net()
    fast = torch.compile(net)
    for _ in range(5):
        net.state = torch.randn(8)
        fast(torch.randn(4, 8))


if __name__ == "__main__":
    main()
