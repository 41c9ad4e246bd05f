"""A weight that is an int, a float or None."""
import torch


@torch.compile
def f(x, w):
    return x.sin() if w is None else x * w  # recompile


def main():
    x = torch.randn(4)
    for w in (None, 2, 0.5, 3, 0.25):
        f(x, w)  # recompile


if __name__ == "__main__":
    main()
