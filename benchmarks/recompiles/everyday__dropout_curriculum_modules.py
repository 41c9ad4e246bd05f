import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 8)
        self.drop = nn.Dropout(0.0)
        self.out = nn.Linear(8, 2)

    def forward(self, x):  # recompile
        return self.out(self.drop(torch.relu(self.fc(x))))  # recompile


net = Net()
fast = torch.compile(net)
for epoch, p in enumerate([0.1, 0.2, 0.3, 0.4]):
    for m in net.modules():
        if isinstance(m, nn.Dropout):
            m.p = p
    fast(torch.randn(2, 4)).sum().backward()
