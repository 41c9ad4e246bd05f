"""A config object that does not change, rebuilt from its dictionary for each call."""
from dataclasses import dataclass

import torch


@dataclass
class Opts:
    scale: float = 1.0
    activation: str = "relu"


RAW = {"scale": 0.5, "activation": "gelu"}


@torch.compile
def block(x, opts):
    y = torch.relu(x) if opts.activation == "relu" else torch.nn.functional.gelu(x)
    return y * opts.scale


def main():
    x = torch.randn(4, 4)
    for _ in range(6):
        block(x, Opts(**RAW))


main()
