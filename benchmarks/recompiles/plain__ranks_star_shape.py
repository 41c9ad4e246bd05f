"""The same with a shape that is unpacked, and two ranks only."""
import torch


@torch.compile
def normalise(x):
    return x / x.norm()


def main():
    for shape in [(4, 8), (2, 4, 8), (4, 8), (2, 4, 8)]:
        normalise(torch.randn(*shape))


if __name__ == "__main__":
    main()
