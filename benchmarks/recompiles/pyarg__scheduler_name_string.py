"""Noise schedule picked by a string the config sweep passes on every call."""
import math
import torch


def alpha_bar(t, kind):
    if kind == "cosine":  # recompile
        return torch.cos(t * math.pi / 2) ** 2
    if kind == "linear":
        return 1 - t
    if kind == "sigmoid":
        return torch.sigmoid(6 * (0.5 - t))
    return torch.exp(-5 * t)


@torch.compile
def q_sample(x0, noise, t, kind):
    a = alpha_bar(t, kind)[:, None]
    return a.sqrt() * x0 + (1 - a).sqrt() * noise


def make_model():
    return q_sample


def batches():
    x, n, t = torch.randn(4, 8), torch.randn(4, 8), torch.rand(4)
    return [(x, n, t, k) for k in ("cosine", "linear", "sigmoid", "exp", "cosine", "linear")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
