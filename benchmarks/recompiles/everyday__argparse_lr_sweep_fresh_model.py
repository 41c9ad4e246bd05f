import argparse
import torch
import torch.nn as nn


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--lrs", type=float, nargs="+", default=[0.1, 0.01, 0.001, 0.0001])
    return p.parse_args([])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x).tanh()


def train(lr):
    net = Net()
    step = torch.compile(net)
    opt = torch.optim.SGD(net.parameters(), lr=lr)
    for _ in range(3):
        loss = step(torch.randn(8, 4)).square().mean()
        loss.backward()
        opt.step()
        opt.zero_grad()


for lr in parse().lrs:
    train(lr)
