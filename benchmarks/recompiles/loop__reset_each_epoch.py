import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, x):  # recompile
        return torch.tanh(self.fc(x))


def main():
    torch.manual_seed(0)
    net = Net()
    fwd = torch.compile(net)
    for epoch in range(4):
        total = 0.0
        for _ in range(3):
            total += fwd(torch.randn(4, 6)).mean().item()  # recompile
        print(epoch, total)
        torch._dynamo.reset()  # recompile


if __name__ == "__main__":
    main()
