"""Progressive training: the number of active blocks is an int set between calls."""
import torch
import torch.nn as nn


class Progressive(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(6, 6) for _ in range(6))
        self.active = 1

    def forward(self, x):
        for blk in self.blocks[:self.active]:  # recompile
            x = blk(x).relu()
        return x


def make_model():
    net = Progressive()
    fast = torch.compile(net)

    def run(x, stage):
        net.active = stage  # recompile
        return fast(x)
    return run


def batches():
    x = torch.randn(3, 6)
    return [(x, s) for s in (1, 2, 3, 4, 5, 6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
