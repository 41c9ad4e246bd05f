"""Fine-tuning puts one stage after another in eval mode, so each combination of training flags is met."""
import torch
import torch.nn as nn


class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        return x + self.drop(self.fc(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList(Stage() for _ in range(4))

    def forward(self, x):
        for s in self.stages:
            x = s(x)
        return x


def make_model():
    net = Net()
    compiled = torch.compile(net)

    def run(x, n_frozen):
        net.train()
        for s in net.stages[:n_frozen]:
            s.eval()  # recompile
        return compiled(x)  # recompile
    return run


def batches():
    return [(torch.randn(4, 8), n) for n in (0, 1, 2, 3, 4, 1)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
