"""A SimpleNamespace config whose pooling string the experiment loop rewrites."""
from types import SimpleNamespace
import torch
import torch.nn as nn


class Pooler(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        h = self.fc(x)
        if self.cfg.pool == "mean":  # recompile
            return h.mean(1)
        if self.cfg.pool == "max":
            return h.amax(1)
        if self.cfg.pool == "cls":
            return h[:, 0]
        return h.sum(1)


def make_model():
    cfg = SimpleNamespace(pool="mean")
    net = torch.compile(Pooler(cfg))

    def run(x, pool):
        cfg.pool = pool  # recompile
        return net(x)
    return run


def batches():
    x = torch.randn(2, 5, 8)
    return [(x, p) for p in ("mean", "max", "cls", "sum", "mean", "max")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
