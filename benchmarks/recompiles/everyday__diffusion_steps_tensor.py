import torch
import torch.nn as nn


class Denoiser(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.fc = nn.Linear(dim + 1, dim)

    def forward(self, x, sigma):
        s = sigma.expand(x.shape[0], 1)
        return self.fc(torch.cat([x, s], -1))


@torch.no_grad()
def sample(model, n_steps):
    x = torch.randn(4, 8)
    sigmas = torch.linspace(1.0, 0.0, n_steps + 1)
    for s, s_next in zip(sigmas[:-1], sigmas[1:]):
        d = (x - model(x, s)) / s
        x = x + d * (s_next - s)
    return x


model = torch.compile(Denoiser())
sample(model, 5)
