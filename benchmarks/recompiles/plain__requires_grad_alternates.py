"""Adversarial steps ask for input gradients, others do not: two programs."""
import torch


@torch.compile
def loss(x, w):
    return (x @ w).pow(2).mean()


def main():
    w = torch.randn(8, 8)
    for step in range(6):
        x = torch.randn(4, 8, requires_grad=step % 2 == 0)
        loss(x, w)


if __name__ == "__main__":
    main()
