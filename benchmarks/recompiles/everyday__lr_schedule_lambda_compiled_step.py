import math
import torch
import torch.nn as nn


def lr_at(step, total=8, base=0.1):
    return 0.5 * base * (1 + math.cos(math.pi * step / total))


def main():
    model = nn.Linear(4, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    @torch.compile(fullgraph=False)
    def opt_step():
        opt.step()  # recompile

    for step in range(8):
        for group in opt.param_groups:
            group["lr"] = lr_at(step)
        loss = model(torch.randn(8, 4)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt_step()


main()
