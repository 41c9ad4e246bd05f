"""Sizes 8, 5, 1 and 0 of detections."""
import torch


@torch.compile
def f(boxes):  # recompile
    return boxes.clamp(min=0).sum(1)  # recompile


def main():
    for n in [8, 5, 1, 0, 7]:
        f(torch.rand(n, 4))  # recompile


if __name__ == "__main__":
    main()
