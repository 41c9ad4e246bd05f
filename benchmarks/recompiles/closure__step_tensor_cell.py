"""The captured step is a tensor that the inner function updates in place."""
import torch


def make_adam_like(beta=0.9):
    t = torch.zeros(())
    m = torch.zeros(5)

    @torch.compile
    def update(g):
        t.add_(1)
        m.mul_(beta).add_(g, alpha=1 - beta)
        return m / (1 - beta ** t)
    return update


def build():
    return make_adam_like()


def calls():
    return [(torch.randn(5),) for _ in range(7)]
