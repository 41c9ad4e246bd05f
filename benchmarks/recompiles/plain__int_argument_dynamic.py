"""An int that is only multiplied becomes dynamic."""
import torch


@torch.compile
def scale(x, k):
    return x * k


def main():
    x = torch.randn(16)
    for k in range(2, 9):
        scale(x, k)


if __name__ == "__main__":
    main()
