"""A flag on the module: two programs."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.noisy = False

    def forward(self, x):
        return x + torch.randn_like(x) if self.noisy else x * 2


def main():
    net = Net()
    fast = torch.compile(net)
    for step in range(6):
        net.noisy = step % 2 == 0
        fast(torch.randn(4))


if __name__ == "__main__":
    main()
