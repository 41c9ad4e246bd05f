"""A frozen dataclass of options; norm and act differ between the callers."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass(frozen=True)
class Options:
    act: str = "relu"
    normalise: bool = False


@torch.compile
def head(x, w, opt: Options):
    h = x @ w
    h = getattr(F, opt.act)(h)  # recompile
    if opt.normalise:  # recompile
        h = F.normalize(h, dim=-1)
    return h


def make_model():
    w = torch.randn(6, 4)
    return lambda x, opt: head(x, w, opt)


def batches():
    x = torch.randn(3, 6)
    return [(x, o) for o in (Options(), Options("gelu"), Options("silu", True), Options("relu", True), Options("softplus"), Options())]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
