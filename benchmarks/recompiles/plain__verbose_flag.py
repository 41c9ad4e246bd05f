"""A flag: two programs."""
import torch


@torch.compile
def f(x, verbose=False):
    return x.sin() if verbose else x.cos()


def main():
    for step in range(10):
        f(torch.randn(4), verbose=step % 5 == 0)


if __name__ == "__main__":
    main()
