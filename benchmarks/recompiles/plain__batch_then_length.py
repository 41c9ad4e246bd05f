"""First the batch changes, then the length: a program for each."""
import torch


@torch.compile
def pool(x):  # recompile
    return x.mean(-1) * 2  # recompile


def main():
    for n, t in [(4, 10), (5, 10), (5, 12), (6, 14)]:
        pool(torch.randn(n, t))  # recompile


if __name__ == "__main__":
    main()
