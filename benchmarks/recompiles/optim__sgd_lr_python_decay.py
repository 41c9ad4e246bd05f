"""A compiled hand-written SGD step whose python lr goes to add_(alpha=)."""
import torch


@torch.compile
def sgd_step(params, grads, lr):
    for p, g in zip(params, grads):
        p.add_(g, alpha=-lr)  # recompile


def make_model():
    params = [torch.randn(4, 4), torch.randn(4)]

    def step(lr):
        sgd_step(params, [torch.ones_like(p) for p in params], lr)
    return step


def batches():
    return [(0.1 * 0.8 ** i,) for i in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
