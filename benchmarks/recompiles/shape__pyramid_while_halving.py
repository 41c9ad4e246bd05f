"""An image pyramid: halve until the side is small; the number of levels depends on the size."""
import torch
import torch.nn.functional as F


@torch.compile
def pyramid_energy(img):
    total = img.pow(2).mean()
    while img.shape[-1] > 4:  # recompile
        img = F.avg_pool2d(img, 2)
        total = total + img.pow(2).mean()
    return total


def make_model():
    return pyramid_energy


def batches():
    return [(torch.randn(1, 3, s, s),) for s in (8, 16, 32, 64, 128)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
