"""What is set before the first call is set-up."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = 1

    def forward(self, x):
        return x.view(x.shape[0], self.heads, -1).sum(1)


def main():
    net = Net()
    for heads in (1, 2, 4):
        net.heads = heads
    fast = torch.compile(net)
    for _ in range(5):
        fast(torch.randn(4, 8))


if __name__ == "__main__":
    main()
