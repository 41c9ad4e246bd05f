"""A forward hook of eager code that reads a step; the compiled layer is below it."""
import torch
from torch import nn


class Noise:
    def __init__(self):
        self.level = 0.0

    def __call__(self, module, args, out):
        return out + self.level * torch.randn_like(out)


def main():
    lin = nn.Linear(4, 4)
    noise = Noise()
    f = torch.compile(lin)
    lin2 = nn.Sequential(f, nn.ReLU())
    lin2.register_forward_hook(noise)
    for i in range(5):
        noise.level = i * 0.1
        lin2(torch.randn(2, 4))


main()
