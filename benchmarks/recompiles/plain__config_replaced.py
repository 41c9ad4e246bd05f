"""dataclasses.replace makes the variants."""
from dataclasses import dataclass, replace

import torch


@dataclass(frozen=True)
class Config:
    kind: str = "a"
    width: int = 8


@torch.compile
def block(x, config):
    if config.kind == "a":  # recompile
        return x + 1
    elif config.kind == "b":  # recompile
        return x * 2
    return x - 3


def main():
    base = Config()
    x = torch.randn(4, 8)
    for kind in "abc":
        block(x, replace(base, kind=kind))  # recompile


if __name__ == "__main__":
    main()
