"""Generation: a branch on the length for every power of two."""
import torch


@torch.compile
def decode(x):
    if x.shape[1] < 4:  # recompile
        return x.sum(1)
    if x.shape[1] < 8:  # recompile
        return x.mean(1)
    if x.shape[1] < 16:  # recompile
        return x.amax(1)
    return x.amin(1)


def main():
    for n in (2, 3, 5, 6, 9, 10, 20, 21):
        decode(torch.randn(2, n))  # recompile


if __name__ == "__main__":
    main()
