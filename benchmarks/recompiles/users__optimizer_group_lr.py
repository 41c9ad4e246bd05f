"""A hand-written update reads the learning rate of the group, which a scheduler changes."""
import torch
from torch import nn


@torch.compile
def update(param, grad, lr):
    return param - lr * grad.sign()


def main():
    w = nn.Parameter(torch.randn(5))
    opt = torch.optim.SGD([w], lr=0.1)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.5)
    for _ in range(5):
        loss = (w**2).sum()
        opt.zero_grad()
        loss.backward()
        with torch.no_grad():
            for group in opt.param_groups:
                for p in group["params"]:
                    p.copy_(update(p, p.grad, group["lr"]))
        sched.step()


main()
