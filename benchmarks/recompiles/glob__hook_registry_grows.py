"""A module-level list of taps that is extended at run time and walked in the compiled function."""
import torch

TAPS = []


@torch.compile
def block(x, w):
    h = torch.sin(x @ w)
    for scale in TAPS:  # recompile
        h = h + scale * x
    return h


def make_model():
    w = torch.randn(4, 4)

    def run(x):
        y = block(x, w)
        TAPS.append(torch.rand(()))  # recompile
        return y
    return run


def batches():
    return [(torch.randn(2, 4),) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
