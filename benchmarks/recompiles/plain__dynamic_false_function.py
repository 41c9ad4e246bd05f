"""dynamic=False on a decorated function while the number of points differs."""
import torch


@torch.compile(dynamic=False)  # recompile
def chamfer(a, b):  # recompile
    return torch.cdist(a, b).amin(1).mean()  # recompile


def main():
    target = torch.randn(16, 3)
    for n in [10, 20, 30, 40]:
        chamfer(torch.randn(n, 3), target)  # recompile


if __name__ == "__main__":
    main()
