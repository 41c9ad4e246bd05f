import torch
import torch.nn as nn


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 12)
        self.drop = nn.Dropout(0.1)
        self.b = nn.Linear(12, 1)

    def forward(self, x):  # recompile
        return self.b(self.drop(torch.tanh(self.a(x))))


def main():
    net = Mlp()
    fast = torch.compile(net)
    for epoch in range(3):
        net.train()
        fast(torch.randn(4, 6)).mean().backward()
        net.eval()
        fast(torch.randn(4, 6)).mean().backward()
        with torch.no_grad():  # recompile
            fast(torch.randn(4, 6))


main()
