"""The same with a learning rate that is a tensor."""
import torch
from torch import nn


def main():
    w = nn.Parameter(torch.randn(5))
    opt = torch.optim.SGD([w], lr=torch.tensor(0.1))
    sched = torch.optim.lr_scheduler.StepLR(opt, 1, 0.5)

    @torch.compile
    def step():
        opt.step()

    for _ in range(5):
        opt.zero_grad()
        (w**2).sum().backward()
        step()
        sched.step()


main()
