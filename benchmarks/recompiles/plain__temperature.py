"""A float that divides becomes an input."""
import torch


@torch.compile
def sample(logits, temperature):
    return (logits / temperature).softmax(-1)


def main():
    x = torch.randn(16)
    for t in (0.5, 0.7, 0.9, 1.1):
        sample(x, t)


if __name__ == "__main__":
    main()
