"""A mask in some calls: two programs."""
import torch


@torch.compile
def attend(x, mask=None):
    if mask is not None:
        x = x * mask
    return x.softmax(-1)


def main():
    x, m = torch.randn(4, 8), torch.ones(4, 8)
    for i in range(6):
        attend(x, m if i % 2 else None)


if __name__ == "__main__":
    main()
