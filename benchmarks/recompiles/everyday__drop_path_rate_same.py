import torch
import torch.nn as nn


class DropPath(nn.Module):
    def __init__(self, p=0.0):
        super().__init__()
        self.p = p

    def forward(self, x):
        if self.p == 0.0 or not self.training:
            return x
        keep = 1.0 - self.p
        mask = torch.empty(x.shape[0], 1, device=x.device).bernoulli_(keep)
        return x * mask / keep


class Net(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.drop_path = DropPath(0.1)
        self.head = nn.Linear(dim, 3)

    def forward(self, x):
        return self.head(x + self.drop_path(torch.relu(self.fc(x))))


def set_drop_path(model, rate):
    for module in model.modules():
        if isinstance(module, DropPath):
            module.p = rate


def main():
    net = Net()
    step = torch.compile(net)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(4):
        set_drop_path(net, 0.1)
        out = step(torch.randn(4, 16))
        out.square().mean().backward()
        opt.step()
        opt.zero_grad()


main()
