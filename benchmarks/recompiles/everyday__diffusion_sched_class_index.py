import math
import torch


class DDIM:
    def __init__(self, n=10):
        betas = torch.linspace(1e-4, 0.02, n)
        self.alphas = torch.cumprod(1 - betas, 0)
        self.timesteps = list(range(n - 1, -1, -2))

    def step(self, eps, t, x):  # recompile
        a = self.alphas[t]
        prev = self.alphas[t - 2] if t >= 2 else torch.ones(())  # recompile
        x0 = (x - (1 - a).sqrt() * eps) / a.sqrt()
        return prev.sqrt() * x0 + (1 - prev).sqrt() * eps


sched = DDIM()
step = torch.compile(sched.step)
x = torch.randn(2, 3)
for t in sched.timesteps:
    eps = torch.randn_like(x)
    x = step(eps, t, x)
print(x.sum())
