import torch
import torch.nn as nn


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 12)
        self.b = nn.Linear(12, 1)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


def main():
    net = Mlp()
    fast = torch.compile(net)
    for epoch in range(3):
        net.train()
        fast(torch.randn(4, 6)).mean().backward()
        net.eval()
        fast(torch.randn(4, 6)).mean().backward()
        with torch.no_grad():
            fast(torch.randn(4, 6))


main()
