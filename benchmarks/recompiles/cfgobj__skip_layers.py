"""A SimpleNamespace holds the list of layers to skip, edited between calls."""
import types
import torch
import torch.nn as nn

cfg = types.SimpleNamespace(skip=[])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))

    def forward(self, x):
        for i, l in enumerate(self.layers):
            if i in cfg.skip:  # recompile
                continue
            x = l(x).relu()
        return x


def make_model():
    net = torch.compile(Net())

    def run(x, skip):
        cfg.skip = skip
        return net(x)
    return run


def batches():
    return [(torch.randn(4, 8), s) for s in ([], [0], [1], [2, 3], [1, 3])]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
