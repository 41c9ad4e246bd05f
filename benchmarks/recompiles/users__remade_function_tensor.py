"""The remade function closes over a tensor."""
import torch


@torch.compile
def integrate(field, x):
    for _ in range(3):
        x = x + 0.1 * field(x)
    return x


def simulate(k):
    def field(x):
        return -k * x

    return integrate(field, torch.ones(3))


def main():
    for k in (0.5, 1.0, 1.5, 2.0):
        simulate(torch.tensor(k))


main()
