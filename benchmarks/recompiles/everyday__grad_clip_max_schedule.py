import torch
import torch.nn as nn


@torch.compile
def clip(grads, limit):  # recompile
    return [g.clamp(-limit, limit) for g in grads]  # recompile


def main():
    model = nn.Linear(4, 1)
    limit = 1.0
    for step in range(5):
        model(torch.randn(2, 4)).sum().backward()
        clip([p.grad for p in model.parameters()], limit)
        limit *= 0.8
        model.zero_grad()


main()
