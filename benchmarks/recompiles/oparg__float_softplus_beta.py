"""SDF to density (VolSDF-like): the sharpness beta is handed over as a Python float."""
import torch
from torch import nn
from torch.nn import functional as F


class Density(nn.Module):
    def __init__(self):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, pts, sharpness: float):
        sdf = self.mlp(pts)
        sigma = F.softplus(-sdf, beta=sharpness)  # recompile
        return sigma.squeeze(-1)


def make_model():
    return torch.compile(Density())


def batches():
    p = torch.rand(10, 3)
    return [(p, s) for s in (1.5, 2.5, 4.5, 8.5, 16.5, 32.5)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
