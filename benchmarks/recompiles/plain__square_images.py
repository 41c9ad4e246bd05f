"""Images of growing sizes, square: height and width change together."""
import torch
import torch.nn as nn


def main():
    conv = nn.Conv2d(3, 4, 3)
    fast = torch.compile(conv)
    for size in (16, 20, 24, 28):
        fast(torch.randn(2, 3, size, size))


if __name__ == "__main__":
    main()
