import torch
import torch.nn as nn

conv = nn.Conv2d(3, 8, 3, stride=2)


@torch.compile(dynamic=False)
def embed(images):  # recompile
    return conv(images).mean((2, 3))


def group_by_size(images):
    groups = {}
    for img in images:
        groups.setdefault(tuple(img.shape[-2:]), []).append(img)
    return groups


def main():
    sizes = [(16, 16), (24, 24), (16, 16), (32, 24), (24, 24)]
    images = [torch.randn(3, h, w) for h, w in sizes]
    for size, imgs in group_by_size(images).items():
        embed(torch.stack(imgs))


main()
