"""The exponent of a power is swept."""
import torch


@torch.compile
def focal(p, gamma):
    return (1 - p) ** gamma  # recompile


def main():
    p = torch.rand(8)
    for gamma in [0.5, 1.5, 2.5, 3.5]:
        focal(p, gamma)  # recompile


if __name__ == "__main__":
    main()
