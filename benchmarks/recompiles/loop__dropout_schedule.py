import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(10, 32)
        self.b = nn.Linear(32, 2)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):  # recompile
        return self.b(self.drop(F.relu(self.a(x))))  # recompile


def main():
    torch.manual_seed(0)
    net = Net()
    net.compile()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    x, y = torch.randn(16, 10), torch.randint(0, 2, (16,))
    for epoch in range(5):
        net.drop.p = 0.5 * (1 - epoch / 5)  # recompile
        loss = F.cross_entropy(net(x), y)  # recompile
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


if __name__ == "__main__":
    main()
