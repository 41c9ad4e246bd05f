"""A hand-written Adam update compiled as a function, with the step as a Python int in beta ** t: it settles."""
import torch


@torch.compile
def adam(p, g, m, v, t):
    m.mul_(0.9).add_(g, alpha=0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    mhat = m / (1 - 0.9 ** t)
    vhat = v / (1 - 0.999 ** t)
    p.sub_(1e-3 * mhat / (vhat.sqrt() + 1e-8))


def make_model():
    p, m, v = torch.randn(8, 8), torch.zeros(8, 8), torch.zeros(8, 8)
    return lambda g, t: adam(p, g, m, v, t)


def batches():
    return [(torch.randn(8, 8), t) for t in range(1, 8)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
