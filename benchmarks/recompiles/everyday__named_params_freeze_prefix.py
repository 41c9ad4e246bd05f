import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 8)
        self.body = nn.Linear(8, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, x):  # recompile
        return self.head(self.body(self.stem(x)))


def unfreeze(net, prefixes):
    for name, p in net.named_parameters():
        p.requires_grad = name.startswith(tuple(prefixes))  # recompile


net = Net()
fast = torch.compile(net)
for prefixes in (["head"], ["head", "body"], ["head", "body", "stem"]):
    unfreeze(net, prefixes)
    fast(torch.randn(2, 4)).sum().backward()
    net.zero_grad()
