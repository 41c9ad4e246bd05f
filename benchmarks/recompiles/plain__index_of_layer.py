"""Which layer's output is asked for."""
import torch
import torch.nn as nn


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(4)])

    def forward(self, x, upto):
        for layer in self.layers[:upto]:  # recompile
            x = layer(x)
        return x


def main():
    net = torch.compile(Stack())
    for upto in (1, 2, 3, 4):
        net(torch.randn(2, 4), upto)  # recompile


if __name__ == "__main__":
    main()
