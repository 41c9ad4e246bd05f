"""numpy float schedule values are handed to the compiled update."""
import numpy as np
import torch


@torch.compile
def sgd_update(p, g, lr):
    return p - g * lr


def make_model():
    sched = np.linspace(0.1, 0.01, 8)

    def step(p, g, i):
        return sgd_update(p, g, float(sched[i]))
    return step


def batches():
    p, g = torch.randn(6), torch.randn(6)
    return [(p, g, i) for i in range(6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
