"""The weight is an attribute of the criterion, which is compiled."""
import torch
from torch import nn


class Criterion(nn.Module):
    def __init__(self):
        super().__init__()
        self.beta = 0.0

    def forward(self, recon, x, mu, logvar):
        rec = (recon - x).pow(2).sum(-1)
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(-1)
        return (rec + self.beta * kl).mean()


def main():
    criterion = Criterion()
    loss_fn = torch.compile(criterion)
    enc, dec = nn.Linear(12, 6), nn.Linear(3, 12)
    for epoch in range(6):
        criterion.beta = epoch / 6
        x = torch.randn(8, 12)
        mu, logvar = enc(x).chunk(2, -1)
        loss = loss_fn(dec(mu), x, mu, logvar)
        loss.backward()


main()
