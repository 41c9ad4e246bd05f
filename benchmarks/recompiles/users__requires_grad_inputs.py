"""Adversarial training: clean inputs do not require gradients, perturbed ones do."""
import torch
from torch import nn


def main():
    model = nn.Linear(4, 2)
    f = torch.compile(model)
    for step in range(4):
        x = torch.randn(3, 4)
        f(x).sum().backward()
        adv = x.clone().requires_grad_()
        f(adv).sum().backward()


main()
