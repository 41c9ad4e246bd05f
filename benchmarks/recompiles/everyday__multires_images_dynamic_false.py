import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1))


@torch.compile(dynamic=False)  # recompile
def features(img):  # recompile
    return net(img).flatten(1)


def pyramid(img, scales=(1.0, 0.75, 0.5, 0.25)):
    for s in scales:
        yield F.interpolate(img, scale_factor=s, mode="bilinear")


def main():
    img = torch.randn(1, 3, 32, 32)
    outs = [features(level) for level in pyramid(img)]
    return torch.stack(outs).mean(0)


main()
