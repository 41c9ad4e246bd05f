"""A frozen dataclass with an Enum field that selects the normalisation."""
import enum
from dataclasses import dataclass
import torch


class Norm(enum.Enum):
    NONE = 0
    L2 = 1
    STD = 2
    MINMAX = 3


@dataclass(frozen=True)
class Options:
    norm: Norm = Norm.NONE


@torch.compile
def prepare(x, opt):
    if opt.norm is Norm.L2:  # recompile
        return x / x.norm(dim=-1, keepdim=True)
    if opt.norm is Norm.STD:  # recompile
        return (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)
    if opt.norm is Norm.MINMAX:  # recompile
        return (x - x.amin()) / (x.amax() - x.amin())
    return x.clone()


def make_model():
    return lambda x, n: prepare(x, Options(n))


def batches():
    return [(torch.randn(4, 8), n) for n in (*Norm, Norm.NONE, Norm.L2)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
