"""A global flag flipped once during the run."""
import torch

CHECK_RANGE = True


@torch.compile
def project(x, w):
    y = x @ w
    if CHECK_RANGE:
        y = y.nan_to_num()
    return y.relu()


def make_model():
    w = torch.randn(4, 4)

    def run(x, i):
        global CHECK_RANGE
        CHECK_RANGE = i < 3
        return project(x, w)
    return run


def batches():
    return [(torch.randn(2, 4), i) for i in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
