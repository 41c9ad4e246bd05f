"""The stride of a convolution is an int field of a dataclass config that differs by call: it settles as a dynamic int."""
from dataclasses import dataclass
import torch
import torch.nn.functional as F


@dataclass
class ConvCfg:
    stride: int = 1
    groups: int = 1


@torch.compile
def block(x, w, cfg):
    return F.conv2d(x, w, stride=cfg.stride, groups=cfg.groups).relu()


def make_model():
    w = torch.randn(4, 4, 3, 3)
    return lambda x, s: block(x, w, ConvCfg(stride=s))


def batches():
    return [(torch.randn(1, 4, 20, 20), s) for s in (1, 2, 3, 4, 2)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
