"""One namespace whose field is written between the calls."""
from types import SimpleNamespace

import torch

OPTS = SimpleNamespace(reduce="mean")


@torch.compile
def run(x):
    if OPTS.reduce == "mean":  # recompile
        return x.mean()
    if OPTS.reduce == "sum":  # recompile
        return x.sum()
    return x.amax()


def main():
    x = torch.randn(4, 8)
    for reduce in ("mean", "sum", "max"):
        OPTS.reduce = reduce  # recompile
        run(x)


if __name__ == "__main__":
    main()
