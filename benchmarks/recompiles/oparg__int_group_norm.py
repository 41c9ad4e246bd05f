"""Number of normalisation groups swept in an ablation."""
import torch
import torch.nn.functional as F


@torch.compile
def normed(x, weight, groups):
    y = F.conv2d(x, weight, padding=1)
    return F.group_norm(y, groups).relu()  # recompile


def make_model():
    weight = torch.randn(24, 3, 3, 3)
    return lambda x, g: normed(x, weight, g)


def batches():
    x = torch.randn(2, 3, 5, 5)
    return [(x, g) for g in (2, 3, 4, 6, 8, 12)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
