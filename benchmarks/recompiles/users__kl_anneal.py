"""A VAE whose KL weight is annealed and handed to the compiled loss."""
import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self, d=12, z=3):
        super().__init__()
        self.enc = nn.Linear(d, 2 * z)
        self.dec = nn.Linear(z, d)

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, -1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


@torch.compile
def elbo(recon, x, mu, logvar, beta):
    rec = (recon - x).pow(2).sum(-1)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(-1)
    return (rec + beta * kl).mean()


def main():
    model = VAE()
    opt = torch.optim.Adam(model.parameters())
    epochs = 6
    for epoch in range(epochs):
        beta = min(1.0, epoch / 4)
        for _ in range(2):
            x = torch.randn(8, 12)
            recon, mu, logvar = model(x)
            loss = elbo(recon, x, mu, logvar, beta)
            opt.zero_grad()
            loss.backward()
            opt.step()


main()
