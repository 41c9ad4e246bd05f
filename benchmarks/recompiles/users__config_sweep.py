"""Sweeps a config object through one compiled function."""
from dataclasses import dataclass, replace

import torch


@dataclass
class Opts:
    scale: float = 1.0
    activation: str = "relu"


@torch.compile
def block(x, opts):
    if opts.activation == "relu":  # recompile
        y = torch.relu(x)
    elif opts.activation == "gelu":
        y = torch.nn.functional.gelu(x)
    else:
        y = torch.tanh(x)
    return y * opts.scale  # recompile


def main():
    base = Opts()
    x = torch.randn(4, 4)
    for act in ("relu", "gelu", "tanh"):
        for scale in (0.5, 1.0, 2.0):
            block(x, replace(base, activation=act, scale=scale))  # recompile


main()
