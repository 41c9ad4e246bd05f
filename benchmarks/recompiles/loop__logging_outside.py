import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(6, 12)
        self.dec = nn.Linear(12, 6)
        self.calls = 0

    def forward(self, x):
        h = torch.relu(self.enc(x))
        torch._dynamo.graph_break()
        return self.dec(h)


def main():
    torch.manual_seed(0)
    net = Net()
    net.compile()
    for _ in range(6):
        y = net(torch.randn(3, 6))
        net.calls += 1
        if net.calls % 3 == 0:
            print(net.calls, y.mean().item())


if __name__ == "__main__":
    main()
