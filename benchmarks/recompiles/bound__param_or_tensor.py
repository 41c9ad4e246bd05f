"""A functional layer gets its weight as a Parameter, a detached tensor or a tensor computed from others."""
import torch
import torch.nn as nn


@torch.compile
def linear(x, w):  # recompile
    return x @ w.t()  # recompile


def make_model():
    p = nn.Parameter(torch.randn(8, 8))

    def run(x, how):
        w = {"param": lambda: p, "ema": lambda: p.detach().clone(), "lora": lambda: p + 0.1,
             "tied": lambda: p.t()}[how]()
        return linear(x, w)
    return run


def batches():
    return [(torch.randn(4, 8), h) for h in ("param", "ema", "lora", "tied", "param", "ema")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
