"""A module-level tuple of enabled regularisers, rebound when the curriculum adds one."""
import torch

ENABLED = ()


@torch.compile
def penalty(w):
    total = w.new_zeros(())
    if "l1" in ENABLED:  # recompile
        total = total + w.abs().sum()
    if "l2" in ENABLED:  # recompile
        total = total + w.square().sum()
    if "ortho" in ENABLED:  # recompile
        total = total + (w @ w.T).triu(1).square().sum()
    return total


def make_model():
    def run(w, names):
        global ENABLED
        ENABLED = names  # recompile
        return penalty(w)
    return run


def batches():
    w = torch.randn(4, 4)
    return [(w, n) for n in ((), ("l1",), ("l1", "l2"), ("l1", "l2", "ortho"), ("ortho",), ("l2",))]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
