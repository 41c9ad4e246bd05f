"""One function compiled twice with other options: programs of one code object."""
import torch


def f(x, k):
    return x.sum(k)  # recompile


def main():
    a = torch.compile(f)
    x = torch.randn(2, 3, 4)
    for k in (0, 1, 2):
        a(x, k)  # recompile


if __name__ == "__main__":
    main()
