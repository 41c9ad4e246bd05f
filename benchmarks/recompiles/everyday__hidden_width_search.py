import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, hidden, act):
        super().__init__()
        self.a = nn.Linear(4, hidden)
        self.b = nn.Linear(hidden, 2)
        self.act = act

    def forward(self, x):  # recompile
        return self.b(self.act(self.a(x)))


def evaluate(hidden, act):
    net = torch.compile(Net(hidden, act))  # recompile
    with torch.no_grad():
        return net(torch.randn(8, 4)).mean().item()


def search(space):
    best = None
    for trial in space:
        score = evaluate(**trial)
        if best is None or score > best[0]:
            best = (score, trial)
    return best


SPACE = [
    {"hidden": 8, "act": torch.relu},
    {"hidden": 8, "act": torch.tanh},
    {"hidden": 16, "act": torch.relu},
    {"hidden": 16, "act": torch.sigmoid},
]
print(search(SPACE))
