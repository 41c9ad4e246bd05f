"""train and eval, each with its own mode: two programs."""
import torch
from torch import nn


def run_epoch(f, net, train):
    net.train(train)
    with torch.set_grad_enabled(train):
        for _ in range(2):
            out = f(torch.randn(2, 4))
            if train:
                out.sum().backward()


def main():
    net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.3))
    f = torch.compile(net)
    for epoch in range(3):
        run_epoch(f, net, True)
        run_epoch(f, net, False)


main()
