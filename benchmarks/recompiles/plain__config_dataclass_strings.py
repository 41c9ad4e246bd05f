"""A dataclass tells which activation to use; the sweep makes a new one for each."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class Config:
    activation: str = "relu"
    scale: float = 1.0


@torch.compile
def block(x, config):
    if config.activation == "relu":  # recompile
        return F.relu(x) * config.scale
    if config.activation == "gelu":  # recompile
        return F.gelu(x) * config.scale
    return torch.tanh(x) * config.scale


def main():
    x = torch.randn(4, 8)
    for name in ["relu", "gelu", "tanh"]:
        block(x, Config(activation=name))  # recompile


if __name__ == "__main__":
    main()
