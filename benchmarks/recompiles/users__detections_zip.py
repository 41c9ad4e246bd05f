"""Boxes for each image; the number of images in the list varies between two sizes only."""
import torch


@torch.compile
def areas(boxes):
    return [((b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])).sum() for b in boxes]


def main():
    for n in (2, 2, 2):
        areas([torch.rand(5, 4) for _ in range(n)])
    areas([torch.rand(5, 4)])


main()
