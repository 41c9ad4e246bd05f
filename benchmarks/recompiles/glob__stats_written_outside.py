"""A module-level dict of statistics that only the eager wrapper writes."""
import torch

STATS = {"steps": 0, "loss": 0.0}


@torch.compile
def compute(x, w):
    return (x @ w).relu().mean()


def step(x, w):
    out = compute(x, w)
    STATS["steps"] += 1
    STATS["loss"] += float(out)
    return out


def make_model():
    return step


def batches():
    w = torch.randn(8, 2)
    return [(torch.randn(4, 8), w) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
