"""The same interpolation with the weight as a 0-d tensor."""
import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 4))

    def forward(self, z0, z1, t):
        return self.net(torch.lerp(z0, z1, t))


def make_model():
    dec = torch.compile(Decoder())

    def interpolate(z0, z1, t):
        return dec(z0, z1, torch.tensor(t))
    return interpolate


def batches():
    a, b = torch.randn(2, 8), torch.randn(2, 8)
    return [(a, b, t / 7) for t in range(1, 7)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
