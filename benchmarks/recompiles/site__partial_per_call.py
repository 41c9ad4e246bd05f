"""functools.partial over a compiled function, with a fresh partial each call, is only a plain call."""
import functools
import torch


@torch.compile
def focal(logits, target, gamma):
    p = torch.sigmoid(logits)
    pt = torch.where(target > 0, p, 1 - p)
    return (-(1 - pt) ** 2 * pt.log() * gamma).mean()


def make_model():
    def run(logits, target):
        f = functools.partial(focal, gamma=1.5)
        return f(logits, target)
    return run


def batches():
    return [(torch.randn(4, 3), torch.randint(0, 2, (4, 3))) for _ in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
