"""A DDIM sampler with python floats taken from a numpy schedule; arithmetic only."""
import numpy as np
import torch

alphas = np.linspace(0.99, 0.1, 8)


@torch.compile
def ddim(x, eps, a, b):
    x0 = (x - (1 - a) ** 0.5 * eps) / a**0.5
    return b**0.5 * x0 + (1 - b) ** 0.5 * eps


x = torch.randn(1, 4)
for i in range(6):
    x = ddim(x, torch.randn_like(x), float(alphas[i]), float(alphas[i + 1]))
