"""A branch on the batch: two parts, two programs more than one at most."""
import torch


@torch.compile
def f(x):
    if x.shape[0] > 8:
        return x.sum(0)
    return x.mean(0)


def main():
    for n in (4, 5, 6, 7):
        f(torch.randn(n, 4))


if __name__ == "__main__":
    main()
