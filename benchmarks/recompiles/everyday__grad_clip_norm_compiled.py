import torch
import torch.nn as nn


@torch.compile
def clip(grads, max_norm):
    total = torch.stack([g.norm() for g in grads]).norm()
    scale = (max_norm / (total + 1e-6)).clamp(max=1.0)
    return [g * scale for g in grads]


def main():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
    for step in range(5):
        model(torch.randn(2, 4)).sum().backward()
        grads = [p.grad for p in model.parameters()]
        clip(grads, 1.0)
        model.zero_grad()


main()
