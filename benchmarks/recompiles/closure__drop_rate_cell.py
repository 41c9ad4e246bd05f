"""Stochastic depth: the nonlocal drop rate rises every epoch and the compiled closure gives it to dropout."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def make_model():
    fc = nn.Linear(8, 8)
    rate = 0.0

    @torch.compile
    def block(x):
        return x + F.dropout(fc(x), rate, training=True)  # recompile

    def epoch(x):
        nonlocal rate
        rate += 0.07  # recompile
        return block(x)
    return epoch


def batches():
    x = torch.randn(4, 8)
    return [(x,) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
