"""Sub-modules put in eval one after the other as fine-tuning freezes them; forward has a dropout in each."""
import torch
import torch.nn as nn


class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return self.drop(self.fc(x))


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList(Stage() for _ in range(5))

    def forward(self, x):
        for s in self.stages:
            x = s(x)
        return x


def make_model():
    net = Backbone()
    fast = torch.compile(net)

    def epoch(x, e):
        for s in net.stages[:e]:
            s.eval()  # recompile
        return fast(x)
    return epoch


def batches():
    x = torch.randn(4, 8)
    return [(x, e) for e in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
