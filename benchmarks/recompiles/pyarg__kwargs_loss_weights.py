"""Loss weights as **kwargs floats; zero weights skip their term."""
import torch
import torch.nn as nn


class VAELoss(nn.Module):
    def forward(self, recon, target, mu, logvar, **weights):
        total = (recon - target).abs().mean()
        if weights["kl"] > 0.0:
            kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
            total = total + weights["kl"] * kl
        return total


def make_model():
    loss = torch.compile(VAELoss())
    return lambda r, t, m, v, beta: loss(r, t, m, v, kl=beta)


def batches():
    r, t, m, v = torch.randn(4, 4, 6)
    return [(r, t, m, v, b) for b in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
