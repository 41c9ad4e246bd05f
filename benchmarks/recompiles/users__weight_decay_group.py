"""Weight decay is written into the group by hand."""
import torch
from torch import nn


def main():
    w = nn.Parameter(torch.randn(5))
    opt = torch.optim.AdamW([w], lr=torch.tensor(0.1))

    @torch.compile
    def step():
        opt.step()

    for i in range(5):
        opt.zero_grad()
        (w**2).sum().backward()
        for group in opt.param_groups:
            group["weight_decay"] = 0.01 * (i + 1)
        step()


main()
