"""Inputs detached, requiring grad, or parameters come in from three losses: each crosses as another kind of tensor."""
import torch
import torch.nn as nn


@torch.compile
def perceptual(a, b):  # recompile
    return ((a - b).abs() + (a * b).tanh()).mean()


def make_model():
    return perceptual


def batches():
    a, b = torch.randn(4, 4), torch.randn(4, 4)
    ra, rb = a.clone().requires_grad_(), b.clone().requires_grad_()
    return [(a, b), (ra, b), (a, rb), (ra, rb), (a, b), (ra, rb)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
