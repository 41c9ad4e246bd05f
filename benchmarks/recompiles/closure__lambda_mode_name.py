"""The reduction's name is captured in a lambda compiled for each."""
import torch


def reducer(name):
    return torch.compile(lambda x: getattr(x * 2, name)(dim=-1))  # recompile


def make_model():
    fns = {n: reducer(n) for n in ("sum", "mean", "amax", "amin", "prod")}
    return lambda x, n: fns[n](x)


def batches():
    x = torch.randn(3, 4)
    return [(x, n) for n in ("sum", "mean", "amax", "amin", "prod")]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
