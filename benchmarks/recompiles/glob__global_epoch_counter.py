"""A module-level step counter is bumped by the loop; the compiled loss reads it in math.cos."""
import math
import torch

STEP = 0
TOTAL = 100


def kl_weight():
    return 0.5 * (1 - math.cos(math.pi * STEP / TOTAL))  # recompile


@torch.compile
def elbo(x, rec, mu):
    return ((x - rec) ** 2).mean() + kl_weight() * mu.pow(2).mean()


def train_step(x, rec, mu):
    global STEP
    STEP += 1  # recompile
    return elbo(x, rec, mu)


def make_model():
    return train_step


def batches():
    x, r, m = torch.randn(4, 8), torch.randn(4, 8), torch.randn(4, 2)
    return [(x, r, m) for _ in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
