from functools import partial

import torch


def jitter(x, strength):
    return (x + strength * torch.randn_like(x)).clamp(-strength, strength)


def make_augment(strength):
    return partial(jitter, strength=strength)


@torch.compile
def apply(fn, x):  # recompile
    return fn(x) * 2


def main():
    x = torch.randn(4, 3)
    for epoch in range(5):
        aug = make_augment(0.1 * (epoch + 1))
        apply(aug, x)


main()
