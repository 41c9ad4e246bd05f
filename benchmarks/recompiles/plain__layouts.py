"""Contiguous, transposed and channels-last images."""
import torch
import torch.nn as nn


def main():
    conv = torch.compile(nn.Conv2d(4, 4, 3))
    x = torch.randn(4, 4, 6, 6)
    for image in (x, x.transpose(2, 3), x.to(memory_format=torch.channels_last), x.permute(0, 1, 3, 2).flip(0)):
        conv(image)  # recompile


if __name__ == "__main__":
    main()
