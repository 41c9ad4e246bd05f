import torch
import torch.nn as nn


class Core(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.lin = nn.Linear(2 * d, d)

    def forward(self, x, h):
        return torch.tanh(self.lin(torch.cat([x, h], -1)))


def main():
    core = torch.compile(Core())
    opt = torch.optim.SGD(core.parameters(), lr=0.1)
    h = torch.zeros(4, 8)
    for t in range(6):
        h = core(torch.randn(4, 8), h)
        if t % 3 == 2:
            h.sum().backward()
            opt.step()
            opt.zero_grad()
            h = h.detach()


main()
