"""Two schedules zipped."""
import torch


@torch.compile
def mix(x, alpha, order):
    return torch.flip(x, [order]) * alpha  # recompile


def main():
    x = torch.randn(2, 3, 4)
    for alpha, order in zip([0.1, 0.2, 0.3], range(3)):
        mix(x, alpha, order)  # recompile


if __name__ == "__main__":
    main()
