"""A mode string on the module."""
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = "a"

    def forward(self, x):
        if self.mode == "a":  # recompile
            return x + 1
        if self.mode == "b":  # recompile
            return x * 2
        return x - 3

    def set_mode(self, mode):
        self.mode = mode  # recompile


def main():
    net = Net()
    fast = torch.compile(net)
    for mode in ["a", "b", "c"]:
        net.set_mode(mode)
        fast(torch.randn(4))


if __name__ == "__main__":
    main()
