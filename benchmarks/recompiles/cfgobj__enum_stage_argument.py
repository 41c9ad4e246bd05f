"""An Enum stage is an argument; four members are used."""
import enum
import torch
import torch.nn as nn


class Stage(enum.Enum):
    WARMUP = 0
    TRAIN = 1
    COOL = 2
    TEST = 3


class Seg(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 2, 1)

    def forward(self, img, stage):
        y = self.conv(img)
        if stage is Stage.WARMUP:  # recompile
            return y.mean()
        if stage is Stage.TRAIN:
            return y.pow(2).mean()
        if stage is Stage.COOL:
            return y.abs().mean()
        return y.argmax(1)


def make_model():
    return torch.compile(Seg())


def batches():
    x = torch.randn(1, 3, 4, 4)
    return [(x, s) for s in (Stage.WARMUP, Stage.TRAIN, Stage.COOL, Stage.TEST, Stage.TRAIN)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
