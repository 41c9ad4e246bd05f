"""A forward hook on a compiled model reads a float that changes."""
import torch
from torch import nn


class Noise:
    def __init__(self):
        self.level = 0.0

    def __call__(self, module, args, out):
        return out + self.level * torch.randn_like(out)


def main():
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    noise = Noise()
    net[0].register_forward_hook(noise)
    f = torch.compile(net)
    for i in range(5):
        noise.level = i * 0.1
        f(torch.randn(2, 4))


main()
