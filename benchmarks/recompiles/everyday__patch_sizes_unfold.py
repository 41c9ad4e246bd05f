import torch
import torch.nn as nn


@torch.compile
def patchify(img, p):
    b, c, h, w = img.shape
    x = img.reshape(b, c, h // p, p, w // p, p)
    return x.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


def main():
    img = torch.randn(2, 3, 32, 32)
    for p in (4, 8, 16):
        patchify(img, p)


main()
