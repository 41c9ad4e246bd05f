"""A physics-informed loss: the closure reads a weight of the enclosing function."""
import torch


def train(steps):
    weight = 1.0

    @torch.compile
    def residual(u, x):
        return (weight * u.sin() - x).pow(2).mean()

    for _ in range(steps):
        residual(torch.randn(6), torch.randn(6))
        weight *= 0.5


def main():
    train(5)


main()
