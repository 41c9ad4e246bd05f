"""A nested function is remade for every step and handed to compiled code, with the same code each time."""
import torch


@torch.compile
def integrate(field, x, steps: int):
    for _ in range(steps):
        x = x + 0.1 * field(x)
    return x


def simulate(k):
    def field(x):
        return -k * x

    return integrate(field, torch.ones(3), 4)


def main():
    for k in (0.5, 1.0, 1.5, 2.0):
        simulate(k)


main()
