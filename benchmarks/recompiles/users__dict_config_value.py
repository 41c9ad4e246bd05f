"""A dictionary of hyper-parameters; one entry is scheduled."""
import torch

hparams = {"eps": 1e-6, "margin": 0.1, "name": "triplet"}


@torch.compile
def triplet(a, p, n):
    d = (a - p).pow(2).sum(-1) - (a - n).pow(2).sum(-1)
    return (d + hparams["margin"]).clamp_min(0).mean()


def main():
    for epoch in range(5):
        hparams["margin"] = 0.1 + 0.05 * epoch
        a, p, n = torch.randn(3, 8, 4)
        triplet(a, p, n)


main()
