import copy
import torch
import torch.nn as nn


def bn_update(model, data):
    model.train()
    with torch.no_grad():  # recompile
        for x in data:
            model(x)


def main():
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
    fast = torch.compile(net)
    data = [torch.randn(8, 4) for _ in range(3)]
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    fast.train()
    for x in data:
        fast(x).sum().backward()
        opt.step()
        opt.zero_grad()
    bn_update(fast, data)
    fast.eval()
    with torch.no_grad():  # recompile
        for x in data:
            fast(x)


main()
