"""`if bool(err < tol)` on a tensor: a graph break with two branches."""
import torch


@torch.compile
def step(x, target):
    err = (x - target).square().mean()
    if err < 0.5:
        return x
    return x + 0.5 * (target - x)


def make_model():
    return step


def batches():
    t = torch.zeros(4, 8)
    return [(torch.full((4, 8), s), t) for s in (3.0, 0.1, 2.0, 0.2, 1.5, 0.3)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
