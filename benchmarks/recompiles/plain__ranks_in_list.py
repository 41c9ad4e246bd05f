"""One function for vectors, matrices and batches."""
import torch


@torch.compile
def normalise(x):  # recompile
    return x / x.norm()  # recompile


def main():
    shapes = [(8,), (4, 8), (2, 4, 8), (2, 2, 4, 8)]
    for shape in shapes:
        normalise(torch.randn(shape))  # recompile


if __name__ == "__main__":
    main()
