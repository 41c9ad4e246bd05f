"""argparse-like options change between the runs."""
import argparse

import torch


@torch.compile
def run(x, opts):
    if opts.reduce == "mean":  # recompile
        return x.mean()
    if opts.reduce == "sum":  # recompile
        return x.sum()
    return x.amax()


def main():
    x = torch.randn(4, 8)
    for reduce in ("mean", "sum", "max"):
        opts = argparse.Namespace(reduce=reduce)
        run(x, opts)  # recompile


if __name__ == "__main__":
    main()
