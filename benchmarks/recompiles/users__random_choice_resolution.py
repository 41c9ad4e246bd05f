"""Multi-scale training picks one of five sizes at random (YOLO style), compiled statically."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

SIZES = [32, 48, 64, 80, 96]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, x):  # recompile
        return F.adaptive_avg_pool2d(self.c1(x), 1)


def main():
    random.seed(1)
    net = torch.compile(Net(), dynamic=False)  # recompile
    for _ in range(10):
        s = random.choice(SIZES)
        img = F.interpolate(torch.randn(1, 3, 64, 64), size=(s, s))
        net(img)  # recompile


main()
