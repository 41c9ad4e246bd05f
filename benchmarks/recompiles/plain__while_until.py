"""A while loop that doubles a window."""
import torch


@torch.compile
def smooth(x, width):
    return x.unfold(0, width, 1).mean(-1)  # recompile


def main():
    x = torch.randn(64)
    width = 2
    while width <= 16:
        smooth(x, width)  # recompile
        width *= 2


if __name__ == "__main__":
    main()
