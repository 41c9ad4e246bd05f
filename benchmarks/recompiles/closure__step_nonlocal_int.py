"""A captured int incremented by the compiled inner function; used as bias correction."""
import torch


def make_adam_like(beta=0.9):
    t = 0
    m = torch.zeros(5)

    @torch.compile
    def update(g):
        nonlocal t
        t += 1
        m.mul_(beta).add_(g, alpha=1 - beta)
        return m / (1 - beta ** t)
    return update


def make_model():
    return make_adam_like()


def batches():
    return [(torch.randn(5),) for _ in range(7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
