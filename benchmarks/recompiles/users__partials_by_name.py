"""partials made once for each activation and looked up."""
from functools import partial

import torch
import torch.nn.functional as F

TABLE = {
    "leaky": partial(F.leaky_relu, negative_slope=0.1),
    "elu": partial(F.elu, alpha=0.5),
    "hard": partial(F.hardtanh, min_val=-2.0),
    "soft": partial(F.softplus, beta=2),
}


@torch.compile
def apply(x, fn):  # recompile
    return fn(x) + 1  # recompile


def main():
    x = torch.randn(6)
    for name in ("leaky", "elu", "hard", "soft"):
        apply(x, TABLE[name])  # recompile


main()
