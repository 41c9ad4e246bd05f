"""A guidance closure made and compiled for every scale: one code object, a captured float that differs and settles."""
import torch


def make_guide(scale, w):
    def guide(x):
        return x + scale * torch.tanh(x @ w)
    return torch.compile(guide)


def make_model():
    w = torch.randn(6, 6)
    guides = [make_guide(0.5 + 0.25 * i, w) for i in range(6)]

    def run(x, i):
        return guides[i](x)
    return run


def batches():
    x = torch.randn(2, 6)
    return [(x, i) for i in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
