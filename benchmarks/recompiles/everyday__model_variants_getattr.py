import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, act="relu"):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.act = act

    def forward(self, x):  # recompile
        return getattr(F, self.act)(self.fc(x))  # recompile


net = Net()
run = torch.compile(net)
for act in ["relu", "gelu", "silu", "elu"]:
    net.act = act
    run(torch.randn(2, 4))
