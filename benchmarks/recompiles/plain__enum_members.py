"""All members of an enumeration, one after the other."""
import enum

import torch


class Pool(enum.Enum):
    MEAN = "mean"
    MAX = "max"
    SUM = "sum"


@torch.compile
def pool(x, how):
    if how is Pool.MEAN:  # recompile
        return x.mean(1)
    if how is Pool.MAX:  # recompile
        return x.amax(1)
    return x.sum(1)


def main():
    x = torch.randn(4, 8)
    for how in Pool:
        pool(x, how)  # recompile


if __name__ == "__main__":
    main()
